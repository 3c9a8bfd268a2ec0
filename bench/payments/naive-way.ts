import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import { HttpModule, HttpService } from '@nestjs/axios';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { plainToInstance, Type } from 'class-transformer';
import {
  IsBoolean,
  IsCreditCard,
  IsInt,
  IsNotEmpty,
  IsPositive,
  IsString,
  IsUrl,
  Matches,
  Max,
  Min,
  validateOrReject,
  ValidateNested,
} from 'class-validator';
import { firstValueFrom } from 'rxjs';
import type { Caller, SubjectSetup } from './caller.js';
import { doPaymentBody, expectApproved, MERCHANT } from './sale.js';

class CardDetails {
  @IsCreditCard() cardNo!: string;
  @Matches(/^(0[1-9]|1[0-2])\d\d$/) expDate!: string;
  @Matches(/^\d{3,4}$/) cvv!: string;
}

class TransactionDetails {
  @IsString() @IsNotEmpty() transactionType!: string;
  @IsInt() @Min(1) @Max(999) installmentCount!: number;
  @IsPositive() amount!: number;
  @IsInt() @Min(1) @Max(999) currencyCode!: number;
  @IsBoolean() vftFlag!: boolean;
}

class CardHolderInfo {
  @IsString() @IsNotEmpty() cardHolderName!: string;
  @Matches(/^\d{7,15}$/) buyerGsm!: string;
}

class Sale {
  @IsString() @IsNotEmpty() merchantId!: string;
  @IsUrl() returnUrl!: string;
  @IsUrl() failUrl!: string;
  @IsString() @IsNotEmpty() paymentMethod!: string;
  @IsString() @IsNotEmpty() language!: string;
  @IsString() @IsNotEmpty() conversationId!: string;
  @IsString() @IsNotEmpty() paymentInstrumentType!: string;
  @ValidateNested() @Type(() => CardDetails) cardDetails!: CardDetails;
  @ValidateNested() @Type(() => TransactionDetails) transactionDetails!: TransactionDetails;
  @ValidateNested() @Type(() => CardHolderInfo) cardHolderInfo!: CardHolderInfo;
}

/** What a merchant might write without this package: validates, signs, sends and reads the code; stores nothing. */
@Injectable()
class NaivePayments {
  constructor(private readonly http: HttpService) {}

  async doPayment(url: string, given: object): Promise<void> {
    const sale = plainToInstance(Sale, given);
    await validateOrReject(sale);
    const body = { ...sale, sign: signOf(sale) };
    const { data } = await firstValueFrom(this.http.post<object>(url, body, { headers: signedHeaders() }));
    expectApproved(data);
  }
}

function signOf(sale: Sale): string {
  const { transactionDetails: details } = sale;
  const values = [
    sale.conversationId,
    sale.merchantId,
    sale.returnUrl,
    sale.failUrl,
    sale.paymentMethod,
    sale.language,
    sale.paymentInstrumentType,
    details.transactionType,
    details.vftFlag ? 'True' : 'False',
    details.installmentCount,
    details.amount,
    details.currencyCode,
    '',
    MERCHANT.apiKey,
  ];
  return createHash('sha256').update(values.join(';')).digest('base64').toUpperCase();
}

function signedHeaders(): Record<string, string> {
  const timestamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const secret = Buffer.from(MERCHANT.clientSecret, 'base64');
  const hash = createHash('sha256').update(secret).update(timestamp).digest('hex');
  return {
    'x-ClientID': MERCHANT.clientId,
    'x-ClientSecret': Buffer.from(hash).toString('base64'),
    'x-GrantType': 'client_credentials',
    'x-Scope': 'pf_write pf_read',
    'x-Timestamp': timestamp,
  };
}

export async function startNaiveWay({ gatewayUrl }: SubjectSetup): Promise<Caller> {
  const agent = new Agent({ keepAlive: true });
  @Module({ imports: [HttpModule.register({ httpAgent: agent })], providers: [NaivePayments] })
  class Shop {}
  const app = await NestFactory.createApplicationContext(Shop, { logger: false });
  const payments = app.get(NaivePayments);
  return {
    call: (number) => payments.doPayment(`${gatewayUrl}/v1/Payment/DoPayment`, doPaymentBody(number)),
    close: async () => {
      await app.close();
      agent.destroy();
    },
  };
}

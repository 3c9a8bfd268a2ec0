import { setTimeout as delay } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { PaymentService } from 'nestjs-card-payment';
import { startSimulator } from 'nestjs-card-payment/simulator';
import { AppModule } from './app.module.js';
import { Orders } from './orders.js';

export interface TakenPayments {
  readonly direct: string;
  readonly threeD: string;
  /** Where the buyer was sent after the bank. */
  readonly location: string | null;
  readonly paid: readonly (string | null)[];
  readonly heard: readonly (string | null)[];
  readonly charges: readonly number[];
  readonly violations: readonly unknown[];
}

/** Boots the application from `.env`, pays at a simulated gateway by both flows, and tells what came of it. */
export async function takePayments(): Promise<TakenPayments> {
  const card = { cardNo: '4508034508034509', expDate: '1236', cvv: '000' };
  const app = await NestFactory.create(AppModule, { logger: ['error', 'fatal'], abortOnError: false });
  const simulator = await startSimulator({ dialect: 'morpos', port: portOf(process.env['PAYMENT_BASE_URL']) });
  try {
    await app.listen(portOf(process.env['PAYMENT_PUBLIC_URL']), '127.0.0.1');
    const orders = app.get(Orders);

    const direct = await orders.charge('direct', card);

    const conversationId = await orders.startAtBank('threeD', card);
    const { request } = simulator.approve(conversationId);
    const answer = await fetch(request.url, { ...request, redirect: 'manual' });
    const threeD = await app.get(PaymentService).find(conversationId);

    const isTold = (): boolean => orders.paid.length >= 2 && orders.heard.length >= 2;
    for (let tries = 0; tries < 500 && !isTold(); tries += 1) await delay(20);
    return {
      direct: direct.state,
      threeD: threeD?.state ?? 'none',
      location: answer.headers.get('location')?.replace(conversationId, '{id}') ?? null,
      paid: orders.paid,
      heard: orders.heard,
      charges: [direct.conversationId, conversationId].map((id) => simulator.ledger.chargedTimes(id)),
      violations: simulator.ledger.violations,
    };
  } finally {
    await app.close();
    await simulator.close();
  }
}

function portOf(url = ''): number {
  return Number(new URL(url).port);
}

import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import type { ArgumentsHost } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import * as main from 'nestjs-card-payment';
import * as desk from 'nestjs-card-payment/desk';
import * as health from 'nestjs-card-payment/health';
import * as simulator from 'nestjs-card-payment/simulator';
import * as sql from 'nestjs-card-payment/sql';
import * as swagger from 'nestjs-card-payment/swagger';
import * as testing from 'nestjs-card-payment/testing';
import { type Option, REQUIRED } from '../../lib/options/option-kinds.js';
import { OPTIONS } from '../../lib/options/option-table.js';
import { routeOf } from '../../lib/options/payment-options.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import { variableOf } from '../../lib/payment/account.js';
import { ExpectedTexts } from '../rigs/expected-texts.js';

const TEXTS = new ExpectedTexts(import.meta.url);

// What it declares is shown by test/package/declarations.spec.ts.

const MODULES: Readonly<Record<string, object>> = {
  '.': main,
  './simulator': simulator,
  './testing': testing,
  './sql': sql,
  './health': health,
  './swagger': swagger,
  './desk': desk,
};

/** Of each module the names that are there at run time, with the values of what is neither a class nor a function. */
function valuesText(): string {
  const sections = Object.entries(MODULES).map(([subpath, module]) => {
    const lines = Object.entries(module).map(([name, value]) => `${name} = ${valueText(value)}`);
    return [`## ${subpath}`, ...lines.sort()].join('\n');
  });
  return sections.join('\n\n');
}

function valueText(value: unknown): string {
  if (typeof value === 'function') return /^class\b/.test(String(value)) ? 'class' : 'function';
  const text = inspected(value);
  return /\[(?:Async)?Function/.test(text) ? 'holds functions' : text;
}

function inspected(value: unknown): string {
  return inspect(value, { depth: null, sorted: true, breakLength: 110, maxArrayLength: null, maxStringLength: null });
}

/** Each option, then what the module makes of the required ones alone. */
function optionsText(): string {
  const rows = Object.entries<Option<unknown, unknown>>(OPTIONS).map(([name, option]) => {
    const variable = option.isCodeOnly ? 'code only' : variableOf('default', name);
    const byDefault = option.default === REQUIRED ? 'required' : String(option.default);
    return `| ${name} | ${variable} | ${byDefault} | ${option.problem('')} |`;
  });
  const required = { baseUrl: 'https://gateway.example', merchantId: 'm', clientId: 'c', clientSecret: 's' };
  const own = { ...required, publicUrl: 'https://shop.example' };
  const settings = [
    resolveSettings({ ...own, signer: () => 'signed' }, {}, {}),
    resolveSettings({ ...own, dialect: 'morpos', apiKey: 'k' }, {}, {}),
  ].map(({ dialect: { name }, credentials, storeUrl, ...others }) =>
    inspect({ dialect: name, ...credentials, storeUrl, ...others }, { sorted: true }),
  );
  const { global } = main.PaymentModule.forRoot();
  const structure = inspect({ isGlobal: global, callback: routeOf({}), callbackOfShop: routeOf({ name: 'shop' }) });
  return [
    ...['| option | variable | default | refusal of an empty text |', '|---|---|---|---|', ...rows],
    ...['', '## By default', ...settings, structure],
  ].join('\n');
}

const sale = (state: main.PaymentState, reason: main.PaymentReason | null): main.Payment =>
  testing.aPayment({ conversationId: 'SALE', state, reason });
const refund = testing.aRefund({ refundId: 'REFUND', conversationId: 'SALE', state: 'failed' });
const voided = testing.aRefund({ ...refund, kind: 'void', state: 'failed' });

/** Each error, and where its status depends on what it says, each of those. */
const ERRORS: readonly (() => main.PaymentError)[] = [
  () =>
    new main.PaymentConfigurationError([{ option: 'luhn', variable: 'PAYMENT_LUHN', message: 'must be' }], ['Hint.']),
  () => new main.PaymentValidationError([{ path: 'cardDetails.cvv', rule: 'isCvv', message: '$property must be' }]),
  () => new main.PaymentNotSentError(sale('failed', 'not_sent'), 'connection failed'),
  () => new main.PaymentNotSentError(sale('succeeded', null), 'connection failed', refund),
  () => new main.PaymentNotSentError(sale('succeeded', null), 'connection failed', voided),
  () => new main.PaymentInit3dError(sale('failed', 'declined')),
  () => new main.PaymentInit3dError(sale('failed', 'no_answer')),
  () => new main.PaymentInit3dError(sale('failed', 'refused')),
  () => new main.PaymentHostedError(sale('pending', null), 'page_open'),
  () => new main.PaymentHostedError(sale('failed', 'unreadable')),
  () => new main.PaymentHostedError(sale('failed', 'declined')),
  () => new main.PaymentDuplicateError(sale('succeeded', null), 'idempotencyKey'),
  () => new main.PaymentDuplicateError(null, 'conversationId'),
  () => new main.PaymentDuplicateError(sale('succeeded', null), 'reference'),
  () => new main.PaymentDuplicateError(null, 'reference'),
  () => new main.PaymentDuplicateError(sale('succeeded', null), 'refundId', refund),
  () => new main.PaymentDuplicateError(sale('succeeded', null), 'refundId'),
  () => new main.PaymentNotFoundError(),
  () => new main.PaymentNotFoundError('refund'),
  () => new main.PaymentStateError(sale('failed', 'declined'), 'be refunded'),
  () => new main.PaymentStateError(sale('succeeded', null), 'be resolved', refund),
  () => new main.PaymentUnsupportedError('CheckPayment', 'standard'),
  () => new main.PaymentCallbackError('unknown_token'),
  () => new main.PaymentCallbackError('missing_field'),
  () => new main.PaymentStoreError('opening the payment'),
  () => new main.PaymentOverloadError(256),
  () => new main.PaymentShutdownError(),
  ...(['exceeds', 'voided', 'refunded', 'in_progress', 'no_ids'] as const).map(
    (reason) => () => new main.PaymentRefundError(reason, sale('succeeded', null), { refundable: '1.00' }),
  ),
];

function errorsText(): string {
  const errors = ERRORS.map((make) => make());
  const classes = Object.values(main).filter((one) => Object.prototype.isPrototypeOf.call(main.PaymentError, one));
  expect(new Set(errors.map(({ constructor }) => constructor))).toEqual(new Set(classes));
  return errors
    .map((error) => {
      expect(error.cause).toBeUndefined();
      const { tellBuyer } = JSON.parse(answerText(error, 'tr').replace(/^[^{]*/, '')) as main.PaymentErrorBody;
      const heading = `## ${error.name}, ${error.code}, statusCode ${error.statusCode}`;
      return [heading, answerText(error, 'en'), `tr: ${tellBuyer}`].join('\n');
    })
    .join('\n\n');
}

/** What the filter answers a program with, in the buyer's language. */
function answerText(error: main.PaymentError, language: string): string {
  const lines: string[] = [];
  const response = {
    getHeader: () => undefined,
    removeHeader: () => undefined,
    header: (name: string, value: string) => void lines.push(`${name}: ${value}`),
    status: (status: number) => {
      lines.unshift(String(status));
      return response;
    },
    send: (body: string) => void lines.push(JSON.stringify(JSON.parse(body), null, 2)),
  };
  const request = { headers: { accept: 'application/json', 'accept-language': language } };
  const http = { getRequest: () => request, getResponse: () => response };
  const host = { getType: () => 'http', switchToHttp: () => http } as unknown as ArgumentsHost;
  void new main.PaymentExceptionFilter().catch(error, host);
  return lines.join('\n');
}

/** What importing `swagger` adds to the classes that a controller takes. */
async function schemasText(): Promise<string> {
  const application = (await Test.createTestingModule({}).compile()).createNestApplication();
  const { CheckoutDto, CheckBinDto, DoPaymentDto, Init3dDto, HostedPaymentDto, Auth3dDto } = main;
  const { RefundDto, VoidDto, RecordRefundDto } = main;
  const document = SwaggerModule.createDocument(application, new DocumentBuilder().build(), {
    extraModels: [
      ...[CheckoutDto, CheckBinDto, DoPaymentDto, Init3dDto, HostedPaymentDto, Auth3dDto],
      ...[RefundDto, VoidDto, RecordRefundDto],
    ],
  });
  return inspected(document.components?.schemas);
}

const REPORTS: Readonly<Record<string, () => string | Promise<string>>> = {
  'values.txt': valuesText,
  'options.txt': optionsText,
  'errors.txt': errorsText,
  'schemas.txt': schemasText,
};

describe('the public surface', () => {
  it.each(Object.entries(REPORTS))('has what it had, in %s', async (file, textOf) => {
    TEXTS.expect(file, `${await textOf()}\n`);
  });

  it('is looked at whole', () => {
    const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      exports: Readonly<Record<string, unknown>>;
    };
    expect([...Object.keys(MODULES), './package.json']).toEqual(Object.keys(exports));
    TEXTS.expectNoOthers(Object.keys(REPORTS));
  });
});

import { setTimeout as delay } from 'node:timers/promises';
import { ConsoleLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { PaymentEvent, PaymentService } from 'nestjs-card-payment';
import { startSimulator } from 'nestjs-card-payment/simulator';
import { AppModule } from './app.module.js';
import { Orders } from './orders.js';

class CountingLogger extends ConsoleLogger {
  errors = 0;

  override error(message: unknown, ...more: unknown[]): void {
    this.errors += 1;
    super.error(message, ...more);
  }
}

/** Starts the application from `.env`, makes direct and 3D payments at a simulated gateway, and returns the outcome. */
export async function takePayments() {
  const card = { cardNo: '4508034508034509', expDate: '1236', cvv: '000' };
  const logger = new CountingLogger({ logLevels: ['error', 'fatal'] });
  const app = await NestFactory.create(AppModule, { logger, abortOnError: false });
  const simulator = await startSimulator({ dialect: 'morpos', port: portOf(process.env['PAYMENT_BASE_URL']) });
  try {
    await app.listen(portOf(process.env['PAYMENT_PUBLIC_URL']), '127.0.0.1');
    const orders = app.get(Orders);

    const direct = await orders.charge('direct', card);

    const conversationId = await orders.startAtBank('threeD', card);
    const { request } = simulator.approve(conversationId);
    const answer = await fetch(request.url, { ...request, redirect: 'manual' });
    const threeD = await app.get(PaymentService).find(conversationId);

    // There is no exception filter.
    const wrong = JSON.stringify({ ...card, cardNo: '4508034508034500' });
    const headers = { 'content-type': 'application/json' };
    const refusal = await fetch(`${process.env['PAYMENT_PUBLIC_URL']}/pay`, { method: 'POST', headers, body: wrong });
    const refused = { status: refusal.status, body: await refusal.json(), errorsLogged: logger.errors };

    const ownId = await orders.startAtBank('own', card);
    const back = simulator.approve(ownId);
    const token = back.url.split('/').at(-2);
    const shown = await fetch(new URL(`/own/${token}/back`, back.url), back.request);
    // By the merchant's own callback route.
    const own = (await shown.json()) as { readonly state: string };

    const isReported = (): boolean => orders.paid.length >= 3 && orders.emitted.length >= 3;
    for (let tries = 0; tries < 500 && !isReported(); tries += 1) await delay(20);
    return {
      direct: direct.state,
      threeD: threeD?.state ?? 'none',
      own: own.state,
      location: answer.headers.get('location')?.replace(conversationId, '{id}') ?? null,
      paid: orders.paid,
      emitted: orders.emitted,
      charges: [direct.conversationId, conversationId, ownId].map((id) => simulator.ledger.chargedTimes(id)),
      violations: simulator.ledger.violations,
      receivesEventClass: orders.parameterType === PaymentEvent,
      refused,
    };
  } finally {
    await app.close();
    await simulator.close();
  }
}

function portOf(url = ''): number {
  return Number(new URL(url).port);
}

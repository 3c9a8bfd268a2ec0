import { Injectable } from '@nestjs/common';
import { OnPayment } from 'nestjs-card-payment';
import { MAX_TRIES } from '../../lib/events/handler-worker.js';
import { cliHere } from '../cli/cli.js';
import { sale } from '../rigs/sale.js';
import { HOUR_MS, Journal, Merchant } from './merchant.js';

@Injectable()
class Mail {
  isDown = true;
  tries = 0;

  @OnPayment('succeeded', { id: 'mail' })
  send(): void {
    this.tries += 1;
    if (this.isDown) throw new Error('no route to the mail server for card 4508034508034509');
  }
}

describe('a handler that keeps failing', () => {
  let merchant: Merchant;

  beforeEach(async () => {
    merchant = await Merchant.open();
  });
  afterEach(() => merchant.close());

  it('is parked after its tries, delays no other handler, and is called again when its event is replayed', async () => {
    const { store, clock } = merchant;
    const [mail, journal] = [new Mail(), new Journal()];
    const providers = [
      { provide: Mail, useValue: mail },
      { provide: Journal, useValue: journal },
    ];
    const { payments } = await merchant.start({ providers });
    const { conversationId } = await payments.doPayment(sale());
    const passes: number[] = [];
    for (let hours = 0; hours < 2 * MAX_TRIES; hours += 1) {
      await payments.reconcile();
      passes.push(mail.tries);
      await clock.advance(HOUR_MS);
    }
    // Once in each pass, since no wait is longer than an hour; then never again.
    expect(passes).toEqual(passes.map((_tries, pass) => Math.min(pass + 1, MAX_TRIES)));
    expect(journal.told).toEqual([`${conversationId} payment.succeeded`]);

    const [parked] = await store.listDeliveries({ account: 'default', parked: true, after: null, limit: 10 });
    expect(parked).toMatchObject({ handlerId: 'mail', attempts: MAX_TRIES, parked: true });
    expect(parked?.error).toMatch(/^Error: no route to the mail server for card$/);

    mail.isDown = false;
    await replay(parked!.event.eventId);
    await payments.reconcile();
    expect(mail.tries).toBe(MAX_TRIES + 1);
    expect(await store.listDeliveries({ account: 'default', parked: true, after: null, limit: 10 })).toEqual([]);
    await clock.advance(24 * HOUR_MS);
    await payments.reconcile();
    expect(mail.tries).toBe(MAX_TRIES + 1);
    expect(journal.told).toHaveLength(1);
  });

  /** As an operator does it, from another process. */
  async function replay(eventId: string): Promise<void> {
    const said = async (...words: string[]) =>
      (await cliHere(['payments', ...words, '--store', merchant.storeUrl], { cwd: '.' })).stdout;
    expect(await said('parked')).toMatch(new RegExp(`\\n +mail +${eventId} `));
    expect(await said('replay', 'mail', eventId)).toContain(eventId);
    expect(await said('parked')).toContain('deliveries: 0');
  }
});

import { inspect } from 'node:util';
import { type InquiryParts, InquiryQueue } from '../../lib/reconciler/inquiry-queue.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

test('inspect shows no address of a page that waits to be asked about', () => {
  const clock = new TestClock();
  const inquiries = { ask: () => new Promise(() => undefined) };
  const parts = { clock, inquiries, stopping: new AbortController().signal } as unknown as InquiryParts;
  const watch = { failed: () => undefined, succeeded: () => undefined };
  const queue = new InquiryQueue(parts, 100, watch);
  const until = new Date(clock.now().getTime() + 600_000);
  for (let id = 0; id < 10; id += 1) {
    const redirectUrl = 'https://gateway.example/the-page';
    const record = aPaymentRecord({ state: 'pending', conversationId: `page-${id}`, redirectUrl });
    queue.add({ record, until, isLeased: true, onAnswer: () => undefined });
  }
  expect(inspect(queue, { depth: 20, showHidden: true })).not.toContain('the-page');
});

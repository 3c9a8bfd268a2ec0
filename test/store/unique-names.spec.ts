import { hashedName, keyName, nameChange, plainName } from '../../lib/store/unique-names.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

// They are in databases: another form of them would forget every key that is taken.
test('names are those that are in databases, and a refund has names of its own', () => {
  const names = (['payment', 'refund'] as const).map((type) => keyName(hashedName, type, 'sipariş-4711'));
  expect(names).toEqual([
    'key:TGvbl6iqZSkvfYPQ2Nii6qODk5V8wNr6yTwvCglaSTo',
    'refund-key:DbkPDc0olx1bIYtGNs-Yk1heZ-28InA7zSflcBWJiHs',
  ]);
});

test.each([{ referenceLock: 'order' }, { referenceLock: null, pinsReference: true }])(
  'what a record keeps, as %j, costs nothing',
  (changes) => {
    const record = aPaymentRecord({ reference: 'order', idempotencyKey: 'key', tokenHash: 'hash', ...changes });
    expect(nameChange(record, record, plainName)).toEqual({ released: [], taken: [], pinned: null });
  },
);

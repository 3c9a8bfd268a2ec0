import { hashedName, keyName, nameChange, plainName } from '../../lib/store/unique-names.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const record = aPaymentRecord({
  account: 'shop',
  conversationId: 'A1',
  reference: 'order',
  referenceLock: 'order',
  idempotencyKey: 'key',
  tokenHash: 'hash',
});

// They are in databases: another form of them would forget every key that is taken.
test('names are those that are in databases, and a refund has names of its own', () => {
  const names = (['payment', 'refund'] as const).map((type) => keyName(hashedName, type, 'sipariş-4711'));
  expect(names).toEqual([
    'key:TGvbl6iqZSkvfYPQ2Nii6qODk5V8wNr6yTwvCglaSTo',
    'refund-key:DbkPDc0olx1bIYtGNs-Yk1heZ-28InA7zSflcBWJiHs',
  ]);
});

test.each([
  ['nothing changes', {}, { released: [], taken: [], pinned: null }],
  ['a lock is released', { referenceLock: null }, { released: ['lock:order'], taken: [], pinned: null }],
  ['a key is another', { idempotencyKey: 'k2' }, { released: ['key:key'], taken: ['key:k2'], pinned: null }],
  [
    'its own lock is pinned',
    { referenceLock: null, pinsReference: true },
    { released: [], taken: [], pinned: 'lock:order' },
  ],
])('%s', (_what, changes, expected) => {
  expect(nameChange({ ...record, ...changes }, record, plainName)).toEqual(expected);
});

test('what is pinned is not pinned again', () => {
  const pinned = { ...record, referenceLock: null, pinsReference: true };
  expect(nameChange(pinned, pinned, plainName)).toEqual({ released: [], taken: [], pinned: null });
});

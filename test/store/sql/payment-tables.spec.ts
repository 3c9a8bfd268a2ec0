import { hostIdHashOf, idHashOf, keyHashOf } from '../../../lib/store/sql/payment-tables.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';

// They are in databases: another form of them would forget every key that is taken.
const HASH = 'YlHs42lPw7nkDAVLWoydmVytHvGkykHPdZhph19eP-U';

test('hashes are those that are in databases', () => {
  expect([keyHashOf('sipariş-4711'), idHashOf('sipariş-4711')]).toEqual([HASH, `id:${HASH}`]);
});

test('only an id that the host chose has a hash', () => {
  const record = aPaymentRecord({ conversationId: 'sipariş-4711', hostIdNonce: 'nonce' });
  expect([hostIdHashOf(record), hostIdHashOf({ ...record, hostIdNonce: null })]).toEqual([`id:${HASH}`, null]);
});

import { plainText } from '../../lib/payment/plain-text.js';
import { describeThrown } from '../../lib/payment/thrown.js';

const SECRET = 'sup/er+Sec/ret0Key/Value1==';
const described = (error: Error) => describeThrown(error, (text) => plainText(text, 300));

describe('what a function of the host threw', () => {
  it('takes no line of its message for a place: part by part, a secret in it would be shown', () => {
    const error = new Error(`refused\n    at https://kms/${SECRET}:1:1`);
    error.stack = `Error: ${error.message}\n    at Orders.paid (/shop/dist/orders.js:4:5)`;
    expect(described(error).at).toEqual(['Orders.paid (/shop/dist/orders.js:4:5)']);
    expect(JSON.stringify(described(error))).not.toContain('ret0Key');
  });

  it('shows the places of an error without a message', () => {
    const error = new Error();
    error.stack = 'Error\n    at Orders.paid (/shop/dist/orders.js:4:5)';
    expect(described(error).at).toEqual(['Orders.paid (/shop/dist/orders.js:4:5)']);
  });
});

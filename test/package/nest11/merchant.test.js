// A merchant's own test, in Jest's CommonJS mode.
const { takePayments } = require('./dist/take-payments.js');

test('both flows are paid', async () => {
  const taken = await takePayments();
  expect(taken).toMatchObject({ direct: 'succeeded', threeD: 'succeeded', charges: [1, 1, 1], violations: [] });
});

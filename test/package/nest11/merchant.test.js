// A test of a merchant, in Jest's CommonJS mode.
const { takePayments } = require('./dist/take-payments.js');

test('direct and 3D payments succeed', async () => {
  const taken = await takePayments();
  expect(taken).toMatchObject({ direct: 'succeeded', threeD: 'succeeded', charges: [1, 1, 1], violations: [] });
});

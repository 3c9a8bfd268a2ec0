/**
 * Tests pay at the simulator and keep everything in memory, whatever `.env`
 * says. Import this before `AppModule`.
 */
Object.assign(process.env, {
  PAYMENT_BASE_URL: 'simulator:',
  PAYMENT_STORE_URL: 'memory:',
  ORDERS_DB: ':memory:',
});

import { runScript } from './tarball.js';

/** Starts an application of each build with the stores that the other one made, and prints what each found in it. */
const SCRIPT = `
  import 'reflect-metadata';
  import { createRequire } from 'node:module';
  import { Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  import * as esm from './dist/esm/index.js';
  import * as esmStores from './dist/esm/store/sql/index.js';
  const require = createRequire(process.cwd() + '/');
  const [cjs, cjsStores] = [require('./dist/cjs/index.js'), require('./dist/cjs/store/sql/index.js')];
  const settings = { baseUrl: 'http://127.0.0.1:9', dialect: 'morpos', merchantId: 'm', clientId: 'c', clientSecret: 's',
    apiKey: 'k', callback: false };
  const found = [esm.MemoryPaymentStore === cjs.MemoryPaymentStore];
  for (const [{ PaymentModule, PaymentService }, { MemoryPaymentStore }, { openSqlStore }] of [
    [esm, cjs, cjsStores],
    [cjs, esm, esmStores],
  ]) {
    for (const store of [new MemoryPaymentStore(), await openSqlStore('sqlite::memory:')]) {
      class Shop {}
      Module({ imports: [PaymentModule.forRoot({ ...settings, store })] })(Shop);
      const app = await NestFactory.createApplicationContext(Shop, { logger: false });
      found.push(await app.get(PaymentService).findByReference('none'));
      await app.close();
    }
    class Mistyped {}
    Module({ imports: [PaymentModule.forRoot({ ...settings, storeUrl: 'postgres://shop:a%b@127.0.0.1:9/shop' })] })(Mistyped);
    const refusal = await NestFactory.createApplicationContext(Mistyped, { logger: false, abortOnError: false }).catch(String);
    found.push(refusal.includes('written as %25'));
  }
  console.log(JSON.stringify(found));
`;

it('the ESM build takes stores of the CommonJS build, and the other way round; both check the store’s URL', async () => {
  expect(JSON.parse(await runScript(SCRIPT))).toEqual([false, [], [], true, [], [], true]);
});

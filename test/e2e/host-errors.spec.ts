import { Injectable, type Provider } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { type GatewayDialect, OnPayment, type PaymentOptions, standardDialect } from 'nestjs-card-payment';
import { loggerInto } from '../operations/log-lines.js';
import { until } from '../services/until.js';
import { bring, type Merchant, sale, useMerchants } from './merchant.js';

const CARD = '4508034508034509';
/** What a merchant may put into an error. */
const TOLD = `card ${CARD}, 1236, 000`;
const HERE = /, at .*test\/e2e\/host-errors\.spec\.ts:\d+:\d+/;

/** The merchant has to mend its own functions: the log says which one threw, what, and where. */
describe('the log, when a function of the merchant throws', () => {
  const log: string[] = [];
  const records: unknown[] = [];
  const merchants = useMerchants({ dialect: 'standard' });
  afterEach(() => {
    expect(log.join('\n') + JSON.stringify(records)).not.toMatch(/4508034508034509|1236|\b000\b/);
    log.length = records.length = 0;
  });

  async function start(options: PaymentOptions, providers: Provider[] = []): Promise<Merchant> {
    const merchant = await merchants.start('express', {
      options,
      metadata: { providers },
      application: { logger: loggerInto(log, records) },
    });
    log.length = records.length = 0;
    return merchant;
  }

  async function line(pattern: RegExp): Promise<string> {
    await until(() => log.some((one) => pattern.test(one)));
    return log.find((one) => pattern.test(one)) ?? '';
  }

  it('a handler: at its first try, with the place in its code', async () => {
    @Injectable()
    class Orders {
      @OnPayment('succeeded')
      paid(): void {
        throw new TypeError(TOLD, { cause: new Error('no route to the database') });
      }
    }
    const { payments } = await start({}, [Orders]);
    const { conversationId } = await payments.doPayment(sale());
    const said = await line(/Orders\.paid failed/);
    expect(said).toMatch(
      /^warn Event \S+: Orders\.paid failed \(try 1\) and is tried again in 1 s: TypeError: card \*/,
    );
    expect(said).toMatch(/; cause: Error: no route to the database, at Orders\.paid \(/);
    expect(said).toMatch(HERE);
    expect(records[log.indexOf(said)]).toMatchObject({ handlerId: 'Orders.paid', conversationId, attempts: 1 });
  });

  it('a plain listener', async () => {
    @Injectable()
    class Mail {
      @OnEvent('payment.succeeded', { suppressErrors: false })
      sent(): Promise<void> {
        return Promise.reject(new Error(TOLD));
      }
    }
    const { payments } = await start({}, [Mail]);
    await payments.doPayment(sale());
    expect(await line(/A listener of payment\.succeeded \(@OnEvent\) failed .*: Error: card \*/)).toMatch(HERE);
  });

  it('the signer, who was given the card', async () => {
    const signer = (fields: object): never => {
      throw new Error(`${TOLD} ${JSON.stringify(fields)}`);
    };
    const { payments } = await start({ dialect: 'standard', signer });
    const failure: unknown = await payments.doPayment(sale()).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'PAYMENT_NOT_SENT',
      message: expect.stringMatching(/: the dialect or the signer failed /) as string,
    });
    const said = await line(
      /^error Nothing was sent to the payment gateway: the signer threw \(doPayment\): Error: card \*/,
    );
    expect(said).toMatch(HERE);
  });

  it.each<[string, (dialect: GatewayDialect) => GatewayDialect, RegExp]>([
    [
      'its body',
      (dialect) => changed(dialect, { body: thrower }),
      /^error Nothing was sent to the payment gateway: the dialect's body of doPayment threw \(doPayment\): Error: card/,
    ],
    [
      'its sign',
      (dialect) => ({ ...dialect, sign: thrower }),
      /^error Nothing was sent to the payment gateway: the signer threw \(doPayment\): Error: card/,
    ],
    [
      'its headers',
      (dialect) => ({ ...dialect, headers: thrower }),
      /^error Nothing was sent to the payment gateway: the dialect's headers threw \(doPayment\): Error: card/,
    ],
    [
      'what reads an answer',
      (dialect) => changed(dialect, { read: thrower }),
      /^error The dialect "own" threw while it read the gateway's answer to doPayment, which counts as unreadable, in read\(\): Error: c/,
    ],
  ])("%s, of the host's own dialect", async (_what, change, pattern) => {
    const dialect = change({ ...standardDialect({ signer: () => 'signed' }), name: 'own' });
    const { payments } = await start({ dialect });
    await payments.doPayment(sale()).catch(() => undefined);
    expect(await line(pattern)).toMatch(HERE);
  });

  it('what reads the page of Init3d', async () => {
    const dialect = standardDialect({ signer: () => 'signed' });
    const init3d = { ...dialect.operations.init3d, read: thrower };
    const { payments } = await start({ dialect: { ...dialect, operations: { ...dialect.operations, init3d } } });
    await expect(payments.init3d(sale())).rejects.toMatchObject({ code: 'PAYMENT_INIT3D' });
    expect(await line(/answer to init3d, which counts as unreadable, in read\(\): Error: card/)).toMatch(HERE);
  });

  it('beforeAuth3d, and the function for an address', async () => {
    const { payments } = await start({ beforeAuth3d: thrower, failureUrl: thrower });
    const { conversationId } = await payments.init3d(sale());
    expect((await bring(merchants.simulator.approve(conversationId))).status).toBe(200);
    expect(await line(/: beforeAuth3d threw, which counts as no; nothing was sent: Error: card/)).toMatch(HERE);
    expect(await line(/: failureUrl returned no usable URL; .* The function threw: Error: card/)).toMatch(HERE);
  });
});

function thrower(): never {
  throw new Error(TOLD);
}

function changed(dialect: GatewayDialect, change: Partial<GatewayDialect['operations']['doPayment']>): GatewayDialect {
  const { operations } = dialect;
  return { ...dialect, operations: { ...operations, doPayment: { ...operations.doPayment, ...change } } };
}

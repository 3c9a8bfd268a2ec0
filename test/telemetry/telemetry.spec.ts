import { readFileSync } from 'node:fs';
import { trace } from '@opentelemetry/api';
import { observe } from '../../lib/telemetry/metrics.js';
import { sale } from '../rigs/sale.js';
import { itPlays } from '../rigs/played-scripts.js';
import { ObservedShop, TOLD } from './observed-shop.js';
import { TelemetryRecorder } from './recorder.js';

describe('OpenTelemetry and the health page', () => {
  itPlays(import.meta.url, ['observed.txt'], async ({ title, steps }) => {
    const shop = new ObservedShop();
    const lines: string[] = [title];
    try {
      for (const step of steps) lines.push(`  ${step}`, ...(await shop.play(step)));
    } finally {
      await shop.end();
    }
    const texts = await shop.recorder.texts();
    expect([...lines, ...texts].filter((text) => text.includes(TOLD) || text.includes('secret'))).toEqual([]);
    return lines.join('\n');
  });

  describe('beside it', () => {
    let shop: ObservedShop;
    beforeEach(async () => {
      shop = new ObservedShop();
      await shop.play('start maxInFlight=1');
    });
    afterEach(() => shop.end());

    it('exports every metric that docs/observability.md names, and no other', async () => {
      await shop.play('pay');
      const exported = new Set((await shop.recorder.points()).map(({ name }) => name));
      const [, section = ''] = readFileSync('docs/observability.md', 'utf8').split(/^### (?:Metrics|Alerts)$/m);
      const named = section.matchAll(/(?:^- |, and )`(card_payment\.[\w.]+)`/gm);
      expect(new Set([...named].map(([, name]) => name))).toEqual(exported);
    });

    it('exports the values of an account where those of another cannot be read', async () => {
      const stop = observe(() => Promise.reject(new Error('password=secret')));
      expect(await shop.recorder.values('card_payment.writes.owed')).toEqual({ '': 0 });
      stop();
    });

    it('does not keep a host from taking payments if its tracer throws', async () => {
      const fail = () => {
        throw new Error('broken');
      };
      trace.disable();
      trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: fail }) } as never);
      expect(await shop.play('pay')).toContain('    succeeded');
    });

    it('links to nothing where the start was not traced', async () => {
      shop.recorder.stop();
      await shop.play('init3d');
      const later = new TelemetryRecorder().start();
      await shop.play('callback');
      later.stop();
      expect(later.span('card_payment.auth3d').links).toEqual([]);
    });

    it('changes nothing for a host without an SDK', async () => {
      shop.recorder.stop();
      expect(await shop.payments.doPayment(sale())).toMatchObject({ state: 'succeeded' });
      const { payment } = await shop.payments.init3d(sale());
      expect(await shop.store.find('default', payment.conversationId)).not.toHaveProperty('traceparent');
    });
  });
});

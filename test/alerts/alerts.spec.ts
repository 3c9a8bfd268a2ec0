import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { startSimulator } from 'nestjs-card-payment/simulator';
import { sale, startMerchant } from '../e2e/merchant.js';
import { requireExecutable } from '../services/executables.mjs';
import { freePort } from '../services/server.js';

const rules = readFileSync('docs/alerts.yml', 'utf8');
const trials = readFileSync('docs/alerts.test.yml', 'utf8');
const expressions = [...rules.matchAll(/expr:(.*?)\n\s+for:/gs)].map(([, expression = '']) => expression);

function promtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(requireExecutable('promtool'), args, { encoding: 'utf8' });
  return `${status}\n${stdout}${stderr}`;
}

describe('the alert rules', () => {
  it('are rules that Prometheus takes', () => {
    expect(promtool('check', 'rules', 'docs/alerts.yml')).toMatch(/^0\n[\s\S]*SUCCESS: \d+ rules found/);
  });

  it('fire when they should, and not on an ordinary day', () => {
    expect(promtool('test', 'rules', 'docs/alerts.test.yml')).toMatch(/^0\n[\s\S]*SUCCESS/);
  }, 60_000);

  it('are each seen to fire', () => {
    const names = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);
    expect(names.length).toBe(expressions.length);
    expect(names.filter((name) => !trials.includes(`"${name}"`))).toEqual([]);
  });

  it('speak of metrics and labels that an application really exports', async () => {
    const port = await freePort();
    const exporter = new PrometheusExporter({ port, host: '127.0.0.1' });
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }));
    const simulator = await startSimulator({ dialect: 'morpos' });
    const shop = await startMerchant('express', simulator, { options: { maxInFlight: 10 } });
    await shop.payments.doPayment(sale());
    await shop.payments.doPayment(sale('10.51'));
    const lost = await startMerchant('express', simulator, { options: { baseUrl: 'http://127.0.0.1:9' } });
    await lost.payments.doPayment(sale()).catch(() => undefined);
    const exported = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    await shop.app.close();
    await lost.app.close();
    await simulator.close();
    await exporter.shutdown();
    metrics.disable();

    const samples = exported.split('\n').filter((line) => line.startsWith('card_payment_'));
    const names = new Set(samples.map((line) => /^\w+/.exec(line)?.[0]));
    const labels = new Set(samples.flatMap((line) => [...line.matchAll(/(\w+)="/g)].map(([, label]) => label)));
    const meant = expressions.flatMap((expression) => [...expression.matchAll(/\bcard_payment_\w+(?=[{[\s)]|$)/g)]);
    const meantNames = new Set(meant.map(([name]) => name).filter((name) => !labels.has(name)));
    expect(meantNames.size).toBeGreaterThanOrEqual(8);
    expect([...meantNames].filter((name) => !names.has(name))).toEqual([]);
    const meantLabels = expressions.flatMap((expression) => [
      ...[...expression.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label]) => label),
      ...[...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/)),
    ]);
    // What scrapes puts the instance's name on.
    expect([...new Set(meantLabels)].filter((label) => label !== 'instance' && !labels.has(label))).toEqual([]);
    for (const [, label = '', values = ''] of rules.matchAll(/(card_payment_\w+)=~?"([^"]*)"/g)) {
      for (const value of values.split('|').filter((each) => each !== 'unknown')) {
        expect(exported).toContain(`${label}="${value}"`);
      }
    }
  });
});

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { sale, useMerchants } from '../e2e/merchant.js';
import { requireExecutable } from '../services/executables.mjs';
import { freePort } from '../services/server.js';

const rules = readFileSync('docs/alerts.yml', 'utf8');
const ruleTests = readFileSync('docs/alerts.test.yml', 'utf8');
const expressions = [...rules.matchAll(/expr:(.*?)\n\s+for:/gs)].map(([, expression = '']) => expression);

function promtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(requireExecutable('promtool'), args, { encoding: 'utf8' });
  return `${status}\n${stdout}${stderr}`;
}

describe('the alert rules', () => {
  const merchants = useMerchants();

  it('are accepted by Prometheus', () => {
    expect(promtool('check', 'rules', 'docs/alerts.yml')).toMatch(/^0\n[\s\S]*SUCCESS: \d+ rules found/);
  });

  it('fire when they should, and not on a normal day', () => {
    expect(promtool('test', 'rules', 'docs/alerts.test.yml')).toMatch(/^0\n[\s\S]*SUCCESS/);
  });

  it('each have a test in which they fire', () => {
    const names = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);
    expect(names.length).toBe(expressions.length);
    expect(names.filter((name) => !ruleTests.includes(`"${name}"`))).toEqual([]);
  });

  it('use only metrics and labels that an application exports', async () => {
    const port = await freePort();
    const exporter = new PrometheusExporter({ port, host: '127.0.0.1' });
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }));
    const shop = await merchants.start('express', { options: { maxInFlight: 10 } });
    await shop.payments.doPayment(sale());
    await shop.payments.doPayment(sale('10.51'));
    const unreachable = await merchants.start('express', { options: { baseUrl: 'http://127.0.0.1:9' } });
    await unreachable.payments.doPayment(sale()).catch(() => undefined);
    const exported = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    await merchants.close();
    await exporter.shutdown();
    metrics.disable();

    const samples = exported.split('\n').filter((line) => line.startsWith('card_payment_'));
    const names = new Set(samples.map((line) => /^\w+/.exec(line)?.[0]));
    const labels = new Set(samples.flatMap((line) => [...line.matchAll(/(\w+)="/g)].map(([, label]) => label)));
    const used = expressions.flatMap((expression) => [...expression.matchAll(/\bcard_payment_\w+(?=[{[\s)]|$)/g)]);
    const usedNames = new Set(used.map(([name]) => name).filter((name) => !labels.has(name)));
    expect(usedNames.size).toBeGreaterThanOrEqual(8);
    expect([...usedNames].filter((name) => !names.has(name))).toEqual([]);
    const usedLabels = expressions.flatMap((expression) => [
      ...[...expression.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label]) => label),
      ...[...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/)),
    ]);
    // The scraper adds the label `instance`.
    expect([...new Set(usedLabels)].filter((label) => label !== 'instance' && !labels.has(label))).toEqual([]);
    for (const [, label = '', values = ''] of rules.matchAll(/(card_payment_\w+)=~?"([^"]*)"/g)) {
      for (const value of values.split('|').filter((each) => each !== 'unknown')) {
        expect(exported).toContain(`${label}="${value}"`);
      }
    }
  });
});

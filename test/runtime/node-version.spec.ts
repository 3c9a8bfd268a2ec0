import { readFileSync } from 'node:fs';
import { nodeProblem } from '../../lib/runtime/node-version.js';

describe('the version of Node.js', () => {
  it.each([
    ['18.20.8', false],
    ['20.10.0', false],
    ['20.18.3', false],
    ['20.19.0', true],
    ['21.7.3', false],
    ['22.11.0', false],
    ['22.12.0', true],
    ['23.11.0', false],
    ['24.0.0', true],
    ['26.1.0', true],
  ])('%s will do: %s', (running, willDo) => {
    expect(nodeProblem(running)).toBe(
      willDo ? null : `nestjs-card-payment needs Node.js ^20.19, ^22.12 or >=24, but this is ${running}.`,
    );
  });

  it('is the one of package.json', () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
    expect(engines.node).toBe('^20.19.0 || ^22.12.0 || >=24.0.0');
  });
});

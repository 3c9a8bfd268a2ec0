import { Logger } from '@nestjs/common';
import { targetOf } from '../../lib/cli/doctor/doctor-check.js';
import { checkStore } from '../../lib/cli/doctor/settings-checks.js';
import type { Lookalike } from '../services/lookalikes.js';
import { LOOKALIKES, writesAmong } from '../store/sql/engines/lookalike-cases.js';
import { cli } from './cli.js';
import { scratch } from './scratch.js';

const { folder: cwd, remove } = scratch();
let lookalike: Lookalike;

describe('doctor lookalikes', () => {
  afterEach(async () => {
    Logger.overrideLogger(false);
    await lookalike.stop();
  });
  afterAll(remove);

  it.each(LOOKALIKES)('the doctor names $name and says why it is refused', async ({ start, message }) => {
    lookalike = await start();
    const { findings } = await checkStore(targetOf('default', { PAYMENT_STORE_URL: lookalike.url }, 5_000));
    expect(findings).toMatchObject([
      { status: 'failed', message: `The store (PAYMENT_STORE_URL) cannot be opened: ${message}` },
    ]);
    expect(JSON.stringify(findings)).not.toContain('password-of-the-shop');
    expect(writesAmong(lookalike.asked)).toEqual([]);
  });

  it.each(LOOKALIKES.filter(({ name }) => ['TiDB', 'Spanner behind PGAdapter'].includes(name)))(
    'so does its process, of $name',
    async ({ start, message }) => {
      lookalike = await start();
      const env = { PAYMENT_STORE_URL: lookalike.url };
      const { status, stdout, stderr } = await cli(['doctor', '--skip', 'gateway'], { cwd, env });
      expect(stdout).toContain('✗ store ');
      expect(stdout.replace(/\s+/g, ' ')).toContain(`The store (PAYMENT_STORE_URL) cannot be opened: ${message}`);
      expect(stdout + stderr).not.toContain('password-of-the-shop');
      expect(status).toBe(1);
    },
  );
});

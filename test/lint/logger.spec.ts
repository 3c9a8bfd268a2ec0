import { ESLint } from 'eslint';

// In CI, typescript-eslint reads the files as they are on disk, whatever code it is given.
process.env.TSESTREE_SINGLE_RUN = 'false';

const lint = new ESLint();

/** What ESLint says of code, were it in that file. */
async function problemsOf(code: string, filePath: string): Promise<string[]> {
  const [result] = await lint.lintText(code, { filePath });
  return result!.messages.filter(({ severity }) => severity === 2).map(({ ruleId }) => String(ruleId));
}

describe('a logger of Nest in lib', () => {
  it.each(['Logger', 'ConsoleLogger'])('%s is refused: it may throw', async (name) => {
    const code = `import { ${name} } from '@nestjs/common';\n\nexport const logger = new ${name}();\n`;
    expect(await problemsOf(code, 'lib/flows/settling/payment-log.ts')).toEqual(['no-restricted-imports']);
    expect(await problemsOf(code, 'lib/telemetry/payment-logger.ts')).toEqual([]);
  });

  it('is refused under another name, too, and the other imports are not', async () => {
    const renamed = `import { Logger as Log } from '@nestjs/common';\n\nexport const logger = new Log();\n`;
    expect(await problemsOf(renamed, 'lib/flows/settling/payment-log.ts')).toEqual(['no-restricted-imports']);
    const other = `import { Injectable } from '@nestjs/common';\n\n@Injectable()\nexport class Service {}\n`;
    expect(await problemsOf(other, 'lib/flows/settling/payment-log.ts')).toEqual([]);
  });
});

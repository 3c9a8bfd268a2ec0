import { ESLint } from 'eslint';

// In CI, typescript-eslint would read the files from disk instead of the given code.
process.env.TSESTREE_SINGLE_RUN = 'false';

const lint = new ESLint();

/** The problems that ESLint reports for code in the given file. */
async function problemsOf(code: string, filePath: string): Promise<string[]> {
  const [result] = await lint.lintText(code, { filePath });
  return result!.messages.filter(({ severity }) => severity === 2).map(({ ruleId }) => String(ruleId));
}

describe('an import of a Nest logger in lib', () => {
  it.each(['Logger', 'ConsoleLogger'])('is refused for %s, since it may throw', async (name) => {
    const code = `import { ${name} } from '@nestjs/common';\n\nexport const logger = new ${name}();\n`;
    expect(await problemsOf(code, 'lib/settlement/change-log.ts')).toEqual(['no-restricted-imports']);
    expect(await problemsOf(code, 'lib/telemetry/payment-logger.ts')).toEqual([]);
  });

  it('is refused under another name as well, unlike other imports', async () => {
    const renamed = `import { Logger as Log } from '@nestjs/common';\n\nexport const logger = new Log();\n`;
    expect(await problemsOf(renamed, 'lib/settlement/change-log.ts')).toEqual(['no-restricted-imports']);
    const other = `import { Injectable } from '@nestjs/common';\n\n@Injectable()\nexport class Service {}\n`;
    expect(await problemsOf(other, 'lib/settlement/change-log.ts')).toEqual([]);
  });
});

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { builtMain } from './cli.js';

const AS_OLD =
  "data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.20.8'}})";
const SENTENCE = 'nestjs-card-payment needs Node.js ^20.19, ^22.12 or >=24, but this is 18.20.8.';

function runAsOld(...args: string[]): Promise<{ status: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', AS_OLD, ...args], (error, stdout, stderr) =>
      resolve({ status: error ? error.code : 0, stdout, stderr }),
    );
  });
}

describe('an older Node.js', () => {
  it('is told by the command line which one is needed', async () => {
    expect(await runAsOld(builtMain(), '--version')).toEqual({ status: 1, stdout: '', stderr: `${SENTENCE}\n` });
  });

  it.each([
    ['import', ['--input-type=module', '-e', "import './dist/esm/index.js'"]],
    ['require', ['-e', "require('./dist/cjs/index.js')"]],
  ])('is told by the library which one is needed, by %s', async (_, args) => {
    const { status, stderr } = await runAsOld(...args);
    expect(stderr).toContain(`Error: ${SENTENCE}`);
    expect(status).toBe(1);
  });
});

describe('the files that are loaded first', () => {
  // Node.js 18 and 20.10 would refuse these names before any code runs.
  it.each(['hash', 'parseEnv'])('the library does not import %s by name', (name) => {
    const code = readFileSync('dist/esm/chunks/core.js', 'utf8');
    const imports = [...code.matchAll(/^import \{([^}]*)\} from "node:/gm)].flatMap(([, names = '']) =>
      names.split(/, ?/),
    );
    expect(imports.map((each) => each.trim())).not.toContain(name);
  });
});

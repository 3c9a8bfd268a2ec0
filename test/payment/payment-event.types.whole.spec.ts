import { resolve } from 'node:path';
import ts from 'typescript';

const FILE = resolve('test/payment/compiled-here.ts');
const TEXT = `import { OnPayment, PaymentEvent } from 'nestjs-card-payment';
  export class One { @OnPayment(['failed', 'expired']) on(event: PaymentEvent<'failed'>) {} }
  export class All { @OnPayment(['failed', 'expired']) on(event: PaymentEvent) {} }`;

it('a handler that takes one state of two is refused without strictFunctionTypes, too', () => {
  const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)) as { config: object };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, process.cwd());
  const unused = { noUnusedLocals: false, noUnusedParameters: false };
  const loose = { ...options, strictFunctionTypes: false, ...unused };
  const host = ts.createCompilerHost(loose);
  const { getSourceFile, fileExists } = host;
  const isHere = (path: string): boolean => resolve(path) === FILE;
  host.fileExists = (path) => isHere(path) || fileExists.call(host, path);
  host.getSourceFile = (path, language, ...how) =>
    isHere(path) ? ts.createSourceFile(path, TEXT, language) : getSourceFile.call(host, path, language, ...how);
  const program = ts.createProgram([FILE], loose, host);
  const source = program.getSourceFile(FILE)!;
  const errors = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
    ({ start, messageText }) => {
      const { line } = source.getLineAndCharacterOfPosition(start ?? 0);
      return [line, ts.flattenDiagnosticMessageText(messageText, ' ')];
    },
  );
  expect(errors).toEqual([[1, expect.stringContaining('the handler must take')]]);
});

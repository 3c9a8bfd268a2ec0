import { dialectProblem, DIALECTS } from '../../lib/options/dialects.js';
import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import { standardDialect } from '../../lib/gateway/dialects/standard.dialect.js';
import type { GatewayDialect } from '../../lib/gateway/gateway-dialect.js';

const signer = (): string => 'S';

describe('the dialects that can be named', () => {
  it.each(Object.entries(DIALECTS))('%s is made whole, under its own name', (name, { make }) => {
    const made = [make({}), make({ signer })].filter((dialect) => !('signerProblem' in dialect));
    expect(made).toHaveLength(1);
    for (const dialect of made as GatewayDialect[]) {
      expect(dialect.name).toBe(name);
      expect(dialectProblem(dialect)).toBeNull();
    }
  });

  it('say what is wrong about the signer', () => {
    expect(DIALECTS.standard.make({})).toEqual({ signerProblem: expect.stringContaining('is missing') });
    expect(DIALECTS.morpos.make({ signer })).toEqual({ signerProblem: expect.stringContaining('signOrder') });
  });
});

describe("a dialect of a host's own", () => {
  const { operations, ...rest } = standardDialect({ signer });
  const problem = (dialect: object): string | null => dialectProblem(dialect as GatewayDialect);

  it('may be without what is optional', () => {
    expect(problem({ ...rest, operations })).toBeNull();
  });

  it.each([
    [
      {},
      'name, headers, sign, newConversationId, operations, codes, requiredCallbackFields, callbackIdField, ' +
        'callbackObjectFields',
    ],
    [
      { ...rest, operations, name: '', verifySign: true, codes: { ...rest.codes, refundApprovedCodes: ['00'] } },
      'name, verifySign, codes.refundApprovedCodes',
    ],
    [
      { ...rest, operations, requiredCallbackFields: [null], callbackObjectFields: null },
      'requiredCallbackFields, callbackObjectFields',
    ],
    [
      { ...rest, operations, codes: { ...rest.codes, approvedCodes: ['B0000'], declinedPrefixes: 'RVV' } },
      'codes.approvedCodes, codes.declinedPrefixes',
    ],
    [{ ...rest, operations, codes: { ...rest.codes, declinedPrefixes: [/^RVV/] } }, 'codes.declinedPrefixes'],
    [
      { ...rest, operations: { ...operations, auth3d: { path: '/x' } } },
      'operations.auth3d.body, operations.auth3d.read',
    ],
    [
      { ...rest, operations: { ...operations, checkPayment: { ...morposDialect().operations.checkPayment, path: 7 } } },
      'operations.checkPayment.path',
    ],
  ])('is told what it lacks (%#)', (dialect, missing) => {
    expect(problem(dialect)).toBe(`is no GatewayDialect: it lacks ${missing}`);
  });
});

import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import { named, refusal, REQUIRED_VARIABLES, resolve } from './resolve.js';

describe('the public address', () => {
  it('is needed while the callback is on', () => {
    expect(named(() => resolve({ publicUrl: undefined }))).toEqual(['publicUrl (PAYMENT_PUBLIC_URL)']);
    expect(named(() => resolve({ publicUrl: undefined }, {}, { callback: { path: 'x' } }))).toHaveLength(1);
  });

  it('is not needed beside a callbackUrl, or while the callback is off', () => {
    expect(resolve({ publicUrl: undefined, callbackUrl: 'https://s.example/p' }).publicUrl).toBeNull();
    expect(resolve({ publicUrl: undefined }, { PAYMENT_CALLBACK_URL: 'https://s.example/p' }).publicUrl).toBeNull();
    expect(resolve({ publicUrl: undefined }, {}, { callback: false }).publicUrl).toBeNull();
  });

  it('is not called missing beside a callbackUrl that is wrong', () => {
    expect(named(() => resolve({ publicUrl: undefined, callbackUrl: 'x' }))).toEqual([
      'callbackUrl (PAYMENT_CALLBACK_URL)',
    ]);
  });
});

describe('the dialect', () => {
  it('standard needs a signer', () => {
    expect(named(() => resolve({ signer: undefined }))).toEqual(['signer']);
    expect(named(() => resolve({ signer: 'zzz' }))).toEqual(['signer']);
  });

  it('morpos needs an API key and has no use for a signer', () => {
    expect(named(() => resolve({ dialect: 'morpos', signer: undefined }))).toEqual(['apiKey (PAYMENT_API_KEY)']);
    expect(named(() => resolve({ dialect: 'morpos', apiKey: 'k' }))).toEqual(['signer']);
    expect(resolve({ dialect: 'morpos', apiKey: 'k', signer: undefined }).dialect.name).toBe('morpos');
    expect(named(() => resolve({ dialect: 'morpos', apiKey: '', signer: undefined }))).toEqual([
      'apiKey (PAYMENT_API_KEY)',
    ]);
  });

  it("may be one of one's own, which wins over the variable", () => {
    const dialect = morposDialect();
    expect(resolve({ dialect, apiKey: 'k', signer: undefined }, { PAYMENT_DIALECT: 'standard' }).dialect).toBe(dialect);
    expect(named(() => resolve({ dialect, signer: undefined }))).toEqual(['apiKey (PAYMENT_API_KEY)']);
    const keyless = { ...dialect, name: 'own', requiresApiKey: false };
    expect(resolve({ dialect: keyless, signer: undefined }).dialect.name).toBe('own');
  });

  it("of one's own must be whole", () => {
    const halved = { ...morposDialect(), sign: undefined, operations: undefined, codes: null };
    const error = refusal(() => resolve({ dialect: halved }));
    expect(error.problems).toEqual([
      { option: 'dialect', variable: null, message: 'is no GatewayDialect: it lacks sign, operations, codes' },
    ]);
    expect(named(() => resolve({ dialect: {} }))).toEqual(['dialect']);
    expect(named(() => resolve({ dialect: morposDialect }))).toEqual(['dialect (PAYMENT_DIALECT)']);
  });

  it('must be able to verify signs where that is asked for', () => {
    expect(named(() => resolve({ verifySign: true }))).toEqual(['verifySign (PAYMENT_VERIFY_SIGN)']);
    expect(resolve({}, { ...REQUIRED_VARIABLES, PAYMENT_VERIFY_SIGN: 'true' }, {}, {}).verifySign).toBe(true);
  });
});

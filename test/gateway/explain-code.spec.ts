import { DEFAULT_CODE_SETS, explainCode, type RetryAdvice } from 'nestjs-card-payment';
import { PUBLIC_CODES } from './public-codes.js';

const CODES = PUBLIC_CODES.map(([code = '']) => code);
const LANGUAGES = ['tr', 'en'] as const;
const RETRIES: RetryAdvice[] = ['same_card', 'other_card', 'later', 'never'];
const TURKISH_LETTER = /[çğıöşüÇĞİÖŞÜ]/;
const DO_NOT_PAY_AGAIN = { tr: /Lütfen yeniden ödeme yapmayın/, en: /Please do not pay again/ };

/** Codes whose texts in the vendor's list say that a bank suspects the card or its holder. */
const SENSITIVE = PUBLIC_CODES.filter(([, en = '']) =>
  /pick.?up|capture|fraud|stolen|lost|restricted|security|violation|policy|tries exceeded/i.test(en),
).map(([code = '']) => code);
const SUSPICION = {
  tr: /çalın|kayıp|kayb|dolandır|sahte|şüphe|el k[oa]|kısıtl|yasak|güvenlik|ihlal|kara liste|yasa/i,
  en: /stolen|lost|fraud|suspect|suspic|pick|captur|restrict|secur(?!e\b)|violat|policy|law|blacklist|keep/i,
};

const textsOf = (code: string | null) => LANGUAGES.map((language) => explainCode(code, language));

describe('explainCode', () => {
  it('knows every code of the public list, in Turkish and in English', () => {
    expect(CODES).toHaveLength(89);
    const unknown = explainCode('B4711', 'en').whatHappened;
    for (const code of CODES) {
      const [tr, en] = textsOf(code) as [ReturnType<typeof explainCode>, ReturnType<typeof explainCode>];
      expect({ code, retry: RETRIES.includes(tr.retry) }).toEqual({ code, retry: true });
      expect(tr).toEqual({ code, retry: en.retry, whatHappened: expect.any(String), tellBuyer: expect.any(String) });
      for (const text of [tr.whatHappened, tr.tellBuyer, en.whatHappened, en.tellBuyer]) {
        expect(text).toMatch(/^[\p{Lu}3`].{6,}\.$/u);
      }
      expect(en.whatHappened).not.toBe(unknown);
      expect(tr.tellBuyer).toMatch(TURKISH_LETTER);
      expect(tr.whatHappened).not.toBe(en.whatHappened);
      expect(en.whatHappened + en.tellBuyer).not.toMatch(TURKISH_LETTER);
    }
  });

  it('says nothing to the buyer of what a bank suspects, not even by another advice', () => {
    expect(SENSITIVE.length).toBeGreaterThan(15);
    expect(SENSITIVE).toEqual(expect.arrayContaining(['B0004', 'B0007', 'B0034', 'B0041', 'B0043', 'B0059']));
    for (const language of LANGUAGES) {
      const { tellBuyer, retry } = explainCode('B0005', language);
      for (const code of SENSITIVE) expect(explainCode(code, language)).toMatchObject({ code, tellBuyer, retry });
      for (const code of CODES) expect(explainCode(code, language).tellBuyer).not.toMatch(SUSPICION[language]);
    }
  });

  it('says it to the merchant, and to keep it', () => {
    for (const code of ['B0041', 'B0043', 'B0034', 'B0007']) {
      expect(explainCode(code, 'en').whatHappened).toMatch(/Keep this from the buyer\.$/);
      expect(explainCode(code, 'tr').whatHappened).toMatch(/Bunu alıcıya söylemeyin\.$/);
    }
    expect(explainCode('B0043', 'en').whatHappened).toContain('stolen');
  });

  it('asks nobody to pay again where money moved or may have moved', () => {
    const { approvalVariantCodes, indeterminateCodes, declinedCodes, approvedCodes } = DEFAULT_CODE_SETS;
    for (const language of LANGUAGES) {
      for (const code of [...approvalVariantCodes, ...indeterminateCodes]) {
        expect(explainCode(code, language)).toMatchObject({ code, retry: 'never' });
        expect(explainCode(code, language).tellBuyer).toMatch(DO_NOT_PAY_AGAIN[language]);
      }
      for (const code of approvedCodes) expect(explainCode(code, language).retry).toBe('never');
      for (const code of declinedCodes) {
        expect(explainCode(code, language).tellBuyer).not.toMatch(DO_NOT_PAY_AGAIN[language]);
      }
    }
  });

  it.each<[string, RetryAdvice, RegExp]>([
    ['B0051', 'other_card', /limit/],
    ['B0014', 'same_card', /card number/],
    ['B0065', 'same_card', /3D Secure/],
    ['B0090', 'later', /few minutes/],
    ['B0003', 'never', /contact the shop/],
  ])('advises on %s: %s', (code, retry, text) => {
    expect(explainCode(code, 'en')).toMatchObject({ retry, tellBuyer: expect.stringMatching(text) });
  });

  it('takes the codes of the gateway’s own validation for a refusal of the request', () => {
    const first = explainCode('RVV0000000401', 'en');
    expect(first).toMatchObject({ code: 'RVV0000000401', retry: 'never' });
    expect(first.whatHappened).toMatch(/credentials/);
    expect(explainCode('RVV1', 'en').whatHappened).toBe(first.whatHappened);
  });

  it.each(['B4711', '', 'b0051', 'constructor', '__proto__', 'XRVV', null])('knows nothing of %s', (code) => {
    const { tellBuyer, retry, whatHappened } = explainCode(code, 'en');
    expect(retry).toBe('never');
    expect(tellBuyer).toMatch(/contact the shop before you pay again/);
    expect(whatHappened).toMatch(/state/);
  });

  it('speaks Turkish unless asked otherwise', () => {
    expect(explainCode('B0051')).toEqual(explainCode('B0051', 'tr'));
    expect(explainCode('B0051', 'tr-TR')).toEqual(explainCode('B0051', 'tr'));
    expect(explainCode('B0051', 'en-GB')).toEqual(explainCode('B0051', 'en'));
    expect(explainCode('B0051', 'de')).toEqual(explainCode('B0051', 'en'));
  });
});

import fc from 'fast-check';
import {
  describeHostError,
  describeThrown,
  holdsCard,
  isWritable,
  keptNote,
  maskCardNumber,
  Masker,
} from '../../lib/payment/kept-text.js';

const CARD = { cardNo: '5246776356903508', expDate: '1230', cvv: '792' };
const HOLDER = { cardHolderName: 'Ada Işık İPEK-Çağlar al', buyerGsm: '+90 532 123 45 67' };
const SECRET = 'c2VjcmV0LW9mLXRoZS1zaG9w';
const KEY = 'an-api-key/with+signs;and more';
const masker = new Masker([SECRET, KEY, 'SIGN=', '', null, 'k'], { cardDetails: CARD, cardHolderInfo: HOLDER });
const nobody = new Masker([]);
const MEBIBYTE = 1_048_576;

describe('a message', () => {
  it.each<[string, string | null]>([
    // Letters, spaces and punctuation.
    ['Yetersiz bakiye, lütfen başka bir kart deneyin.', 'Yetersiz bakiye, lütfen başka bir kart deneyin.'],
    ['Onaylandı ✓ <b>₺</b> a+b=c', 'Onaylandı b /b a b c'],
    ['a\r\nb\u0000c\u001b[31md\u0085e\u2028f\u202eg\u200bh\ud800i', 'a b c [**md e f g h i'],
    ['', null],
    [' \t ✓', null],
    // Digits, of any script.
    ['order 17, 149.90 TL, %20', 'order **, ***.** TL, %**'],
    ['５２ ٤٥ ⁵² ② ❺ 𝟓', '** ** ** * * *'],
    // Result codes.
    ['B0051: RVV0000000401 (R0099), B00512 xB0051 RVV1 B51', 'B0051: RVV0000000401 (R0099), B***** xB**** RVV* B**'],
    // Long words.
    ['gerçekleştirilememektedir. "Uncharacteristically"', 'gerçekleştirilememektedir. "Uncharacteristically"'],
    ['refused: aB3dE9xK7qLmpQrs, sorry', 'refused: sorry'],
    ['refused: aB3dE9xK7qLmpQr sorry', 'refused: aB*dE*xK*qLmpQr sorry'],
    ['at https://smtp.example.com/some/path now', 'at now'],
    ['PaymentNotSentError: ER_NO_SUCH_TABLES', 'PaymentNotSentError: ER_NO_SUCH_TABLES'],
    ['error.no-active-tax-zone (Order_Payment_State)', 'error.no-active-tax-zone (Order_Payment_State)'],
    ['AbcdEfgh-IjklMnopQr abcdefgh--ijklmnop abcdefgh/ijklmnop error.no-tax-zone-7', null],
    // The card, as it is written or spaced.
    [`No ${CARD.cardNo}.`, 'No ***.'],
    ['No 5246 7763-5690.3508!', 'No ***!'],
    ['No ５２４６７７６３５６９０３５０８', 'No ***'],
    ['No 4508034508034509, 4508 0345 0803 4509', 'No **** **** **** ****'],
    [`{"cardNo":"${CARD.cardNo}"}`, '{"cardNo":"***"}'],
    [`{ "cardNo": "${CARD.cardNo}", "cvv": "792" }`, '{ "cardNo": "***", "cvv": "***" }'],
    ['cvv 792, exp 12/30 or 12/2030, not 7920', 'cvv ***, exp *** or ***, not ****'],
    // Credentials, in any case and spacing.
    [`by ${KEY}, ${KEY.toUpperCase()}`, 'by ***, ***'],
    ['by An Api Key With Signs And More', 'by ***'],
    [`x${SECRET}y and sign`, 'x***y and ***'],
    ['designed by k', 'designed by k'],
    ['tel +90 (532) 123 45 67', 'tel +** (***) *** ** **'.replace('+** (***) *** ** **', '***')],
    // Names, as whole words, with dotted and dotless i as one letter.
    ['Ada: ADA, ada! ad-a', '***: ***, ***! ***'],
    ['Adana, adada', 'Adana, adada'],
    ['ISIK ışık Isik IŞIK ışi\u0307k', 'ISIK *** Isik *** ***'],
    ['ipek İpek IPEK ı\u0307pek; çağlar CAGLAR', '*** *** *** ***; *** CAGLAR'],
    ['al', 'al'],
  ])('%j is kept as %j', (text, kept) => {
    expect(masker.keptMessage(text)).toBe(kept);
  });

  it('is a text', () => {
    for (const given of [null, undefined, 5, {}, ['x']]) expect(masker.keptMessage(given)).toBeNull();
  });

  it('has 200 characters at most', () => {
    expect(nobody.keptMessage('ö'.repeat(2_000))).toBe('ö'.repeat(200));
    expect(nobody.keptMessage('refused '.repeat(200))).toBe('refused '.repeat(25).trim());
    expect(nobody.keptMessage('ö'.repeat(99), 80)).toBe('ö'.repeat(80));
    expect(nobody.keptMessage(`${'a'.repeat(199)}\u{10400}`)).toBe('a'.repeat(199));
  });

  it('shows no beginning of a secret or of a long word, wherever it is cut', () => {
    for (let at = 150; at <= 210; at += 1) {
      const words = 'declined '.repeat(30).slice(0, at);
      for (const text of [KEY, SECRET, HOLDER.buyerGsm, 'Ada', 'aB3dE9xK7qLmpQrs']) {
        const kept = masker.keptMessage(`${words} ${text} and ${'more words '.repeat(1_000)}`);
        expect(kept).toMatch(/^[declin ]+(?:\**|(?:\*\*\* )?[andmorews ]+)$/);
      }
    }
  });

  it('shows no digit, whatever it is', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.stringMatching(/^\d{1,20}$/))), (parts) => {
        const kept = masker.keptMessage(parts.join('')) ?? '';
        expect(kept.length).toBeLessThanOrEqual(200);
        expect(kept.replace(/(?<![\p{L}\p{N}])(?:[A-Z]\d{4}|[A-Z]{3}0{4}\d{6})/gu, '')).not.toMatch(/\p{N}|[\p{C}]/u);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('an id', () => {
  it.each([
    '99000000000000000000000000000000000001',
    '550e8400-e29b-41d4-a716-446655440000',
    'ORD_2026.0017',
    '-',
    'x'.repeat(64),
    'ADA123',
    'adada',
    'x792y',
    '00792',
    'ORD524677-X-3508',
    'design-1',
  ])('is kept: %s', (id) => expect(masker.keptId(id)).toBe(id));

  it.each<[string, unknown]>([
    ['empty', ''],
    ['too long', 'x'.repeat(65)],
    ['with a space', 'a b'],
    ['with a slash', 'a/b'],
    ['with a colon', 'a:b'],
    ['not ASCII', 'é1'],
    ['on two lines', 'a\n'],
    ['a number', 12],
    ['nothing', undefined],
    ['the card', CARD.cardNo],
    ['the card, spaced', '5246-7763.5690_3508'],
    ['the card, inside', `ORD${CARD.cardNo}X`],
    ['seven digits of the card', 'ORD-7763569'],
    ['seven digits of the card, spaced', '77.63-569'],
    ['the security code', '792'],
    ['the security code, as a word', 'ORD-792-1'],
    ['the expiry', '12-30'],
    ['the expiry, in full', '12.2030'],
    ['a name', 'ORD-ADA'],
    ['the phone', '905321234567'],
    ['the phone, without its country', '0532-1234567'],
    ['the secret', `x${SECRET.toUpperCase()}`],
    ['the key, without its signs', 'anapikey-withsigns-and.more'],
    ['the sign', '1-SIGN-2'],
  ])('is not kept: %s', (_what, id) => expect(masker.keptId(id)).toBeNull());
});

describe('a note', () => {
  it.each([
    ['Banka ile 21.11.2026 14:30 görüşüldü, 149.90 TL', null],
    ['2026-11-21T14:30:00, sipariş 20261234 by ada@shop.example, +%5 ✓', null],
    ['12345678', null],
    ['a\r\nb\u0000\u202ec\ud800', 'a  b  c '],
    ['tel 0532 123 45 67', 'tel **** *** ** **'],
    [`panel: ${CARD.cardNo}, cvv 792`, 'panel: ***, cvv ***'],
    ['5 2 4 6 7 7 6 3 5 6 9 0 3 5 0 8', '* * * * * * * * * * * * * * * *'],
    ['52.46.7763 56:90', '**.**.**** **:**'],
    ['５２４６７７６３５６９０３５０８', '***'],
    ['1,2,3,4,5,6,7,8 and 9', null],
    [`key ${KEY}, ${SECRET}, refunded-in-person-today`, 'key ***;and more, ***, refunded-in-person-today'],
  ])('%j is kept as %j', (note, kept) => expect(keptNote(note, 1_000)).toBe(kept ?? note));

  it('is cut, and shows no beginning of a number that is cut', () => {
    expect(keptNote('x'.repeat(300), 200)).toBe('x'.repeat(200));
    expect(keptNote(`${'x y '.repeat(47)} 5246 7763 5690 3508`, 200)).toBe(`${'x y '.repeat(47)} **** **** *`);
    expect(keptNote(`${'x y '.repeat(47)} ${CARD.cardNo}`, 200)).toBe(`${'x y '.repeat(47)} ***`);
  });
});

describe('a card number', () => {
  it.each([
    [CARD.cardNo, '524677******3508'],
    ['5246 7763 5690 3508', '524677******3508'],
    ['1234567890123456789', '123456*********6789'],
    ['1234567890123', '123456***0123'],
    ['123456789012', '************'],
    ['', ''],
    ['５２４６７７６３５６９０３５０８', ''],
  ])('%p is shown as %p', (cardNo, masked) => expect(maskCardNumber(cardNo)).toBe(masked));

  // Only the mask is known of an earlier payment: any number that it fits may be the card's.
  it.each<[isFound: boolean, byItsMask: boolean, texts: string[]]>([
    [true, true, ['5246776356903508', 'no 5246 7763-5690.3508!', 'x5246776356903508y', '152467763569035081']],
    [true, true, ['５２４６７７６３５６９０３５０８']],
    [false, true, ['524677 12 3508', '5246770000000003508']],
    [false, false, ['524677******3508', '524677 and 3508', '5246771 3508', '52467700000000003508']],
    [false, false, ['1000000000003508', '']],
  ])('is found: %p, by its mask: %p, in %j', (isFound, byItsMask, texts) => {
    const masked = { maskedCardNumber: maskCardNumber(CARD.cardNo) };
    for (const text of texts) {
      expect([text, holdsCard(text, CARD), holdsCard(text, masked)]).toEqual([text, isFound, byItsMask]);
    }
  });

  it.each([{}, { maskedCardNumber: null }, { maskedCardNumber: '************' }, { cardNo: '' }, { cardNo: '3508' }])(
    'is not found where it is not known: %p',
    (known) => expect(holdsCard(CARD.cardNo, known)).toBe(false),
  );
});

it('a text can be stored unless it has control characters, line separators or half a character', () => {
  expect(['x\ty', 'x\u2028', '\ud800', 'x\u0085', 5].map(isWritable)).toEqual([false, false, false, false, false]);
  expect(['', 'İpek 😀'].map(isWritable)).toEqual([true, true]);
});

describe('a mebibyte of text', () => {
  it.each([
    '4',
    '4 ',
    'a',
    'aA1',
    '%34',
    '12/30 ',
    KEY,
    `${CARD.cardNo} `,
    'x*1',
    '-',
    '😀',
    '\ufdfa',
    'ı\u0307',
    '\n',
  ])('of %p costs less than 100 ms', (part) => {
    const text = part.repeat(MEBIBYTE / part.length);
    const times = [1, 2, 3].map(() => {
      const began = process.cpuUsage().user;
      masker.keptMessage(text);
      masker.keptId(text);
      keptNote(text, 1_000);
      holdsCard(text, CARD);
      return (process.cpuUsage().user - began) / 1_000;
    });
    expect(Math.min(...times)).toBeLessThan(100);
  });
});

describe('what the host’s code threw', () => {
  const thrownAt = (error: Error, ...lines: string[]): Error => {
    error.stack = [String(error), ...lines.map((line) => `    at ${line}`)].join('\n');
    return error;
  };
  const HERE = 'Orders.paid (/shop/dist/orders.js:4:5)';

  it('is told by its name, its message, its cause, and the places in the host’s files', () => {
    const error = new TypeError(`card ${CARD.cardNo}, 792`, { cause: new RangeError('no route to Ada') });
    const paths = [
      'async Orders.paid (/shop/dist/orders.js:4:5)',
      `file://${process.cwd()}/app/a.js:1:2`,
      'node:internal/timers:1:1',
      'run (/shop/node_modules/x/y.js:1:1)',
      'a (<anonymous>:1:1)',
      'two (/b.js:1:1)',
      'three (/c.js:1:1)',
    ];
    expect(describeThrown(thrownAt(error, ...paths), masker)).toEqual({
      error: 'TypeError: card ***, ***; cause: RangeError: no route to ***',
      at: [HERE, 'app/a.js:1:2', 'two (/b.js:1:1)'],
    });
    const said = new Error(`${SECRET}: ${CARD.cardNo.slice(4)}, 5246 7763`);
    expect(describeHostError(thrownAt(said, HERE), { clientSecret: SECRET, apiKey: null })).toEqual({
      error: 'Error: ***: ************, **** ****',
      at: [HERE],
    });
  });

  it('takes no line of its message for a place', () => {
    const message = `refused\n    at https://kms/${SECRET}:1:1`;
    expect(describeThrown(thrownAt(new Error(message), HERE), nobody).at).toEqual([HERE]);
    expect(describeThrown(thrownAt(new Error(), HERE), nobody)).toEqual({ error: 'Error:', at: [HERE] });
  });

  it('has no place that holds a secret', () => {
    const places = [
      `Object.${KEY} (/a.js:1:1)`,
      `Object.x${SECRET} (/b.js:1:1)`,
      'Object.4508034508034509 (/c.js:1:1)',
    ];
    expect(describeThrown(thrownAt(new Error('x'), ...places), masker).at).toEqual(['Object.*** (/c.js:1:1)']);
    const spaced = thrownAt(new Error('x'), 'card 4508-0345 0803.4509:1234:12345');
    expect(describeThrown(spaced, masker).at).toEqual(['card ***:1234:12345']);
  });

  const fail = () => {
    throw new Error(CARD.cardNo);
  };
  it.each<unknown>([
    'text',
    undefined,
    { message: CARD.cardNo },
    Object.assign(new Error(), { message: 5 }),
    Object.defineProperty(new Error(), 'message', { get: fail }),
    Object.assign(new Error(), { message: Symbol(CARD.cardNo) }),
    new Proxy(new Error(), { getPrototypeOf: fail, get: fail }),
  ])('may be anything (%#)', (thrown) => {
    const { error } = describeThrown(thrown, nobody);
    expect(error).toMatch(/^(?:threw something that is no Error|Error: \*)$/);
  });
});

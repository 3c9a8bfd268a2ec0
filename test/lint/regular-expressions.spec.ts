import { isPrefetch } from '../../lib/http/callback.controller.js';
import { resultChanges } from '../../lib/settlement/result-fields.js';
import { findBankPage } from '../../lib/gateway/readings/pages.js';
import { ReplyFields } from '../../lib/gateway/readings/reply-fields.js';
import { keptResult } from '../../lib/gateway/kept-result.js';
import { replyText } from '../../lib/gateway/transport/attempt.js';
import { holdsCard, keptNote, Masker } from '../../lib/payment/kept-text.js';
import { preferredLanguage } from '../../lib/runtime/text-language.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { cpuMs } from '../rigs/cpu-time.js';

// ESLint judges each regular expression by itself. Those that are made at run time are measured here, with all around them.

const CARD = { cardNo: '4508034508034509', expDate: '1236', cvv: '000' };
const MASKER = new Masker(['a-secret-of-ours'], { cardDetails: CARD });
const RULES = { dateOrder: 'dmy' } as never;
const resultOf = (text: string) => ({ code: text, message: text, authCode: text, transactionDate: text }) as never;

/** Functions that read untrusted text. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'the languages of a browser': (text) => preferredLanguage(text, 'en'),
  'the headers of a prefetch': (text) => isPrefetch({ method: 'GET', headers: { 'sec-purpose': text, purpose: text } }),
  'the character set of a reply': (text) =>
    replyText(Buffer.of(0xff), { 'content-type': `text/html; charset=${text}` }),
  'the encodings of a reply': (text) => replyText(Buffer.of(1), { 'content-encoding': text }),
  'a reply': (text) => ReplyFields.parse(text),
  'a string in a reply with numbers': (text) => ReplyFields.parse(JSON.stringify({ text, number: 1 })),
  "the bank's page": (text) => findBankPage(ReplyFields.parse(JSON.stringify({ text }))!, 'text'),
  'a text that may contain the card number': (text) => holdsCard(text, CARD),
  'a note': (text) => keptNote(text, 1_000),
  'a result before it is kept': (text) => keptResult(resultOf(text), MASKER, {} as never),
  'a result before it is stored': (text) => resultChanges(resultOf(text), aPaymentRecord(), RULES),
};

const PUMPED = [...' \t\na1A_-.,;:=+/\\"\'%&#<>({[*@', '\u0307', 'é', '４', '\u0000', '😀', '\\"', '\\\\'];
/** Texts of one character repeated, with and without an opening quote, and an end with which no match ends. */
const HOSTILE_TEXTS = ['', '"'].flatMap((start) =>
  PUMPED.map((pump) => (length: number) => `${start}${pump.repeat(Math.ceil(length / pump.length))}\u0000`),
);
/** The short length is for exponential time, which doubles with each character. */
const LENGTHS = [22, 16_384];
/** Shorter times are not compared; quadratic time takes about a hundred milliseconds. */
const WORTH_COMPARING_MS = 15;
/** Four times the length takes four times as long in linear time, and sixteen times in quadratic time. */
const MAX_GROWTH = 8;

/** The first text of which four times as much takes disproportionately more CPU time, by the shortest of five trials. */
function slowTextOf(work: (text: string) => unknown): string | null {
  const msOf = (text: string): number => {
    const before = cpuMs();
    work(text);
    return cpuMs() - before;
  };
  const leastOf = (text: string) => Math.min(...Array.from({ length: 5 }, () => msOf(text)));
  const slow = HOSTILE_TEXTS.find((textOf) => {
    const length = LENGTHS.find((one) => msOf(textOf(one)) > WORTH_COMPARING_MS);
    if (length === undefined) return false;
    const long = leastOf(textOf(length));
    return long > WORTH_COMPARING_MS && long > MAX_GROWTH * leastOf(textOf(length / 4));
  });
  return slow ? JSON.stringify(slow(12)) : null;
}

describe('on hostile texts of up to 16 KiB, reading', () => {
  it.each(Object.entries(READERS))('%s takes linear time', (_what, read) => {
    expect(slowTextOf(read)).toBeNull();
  });

  it('is measured so that quadratic and exponential time are noticed', () => {
    expect(slowTextOf((text) => text.replace(/\/+$/, ''))).toContain('////');
    expect(slowTextOf((text) => /^(a+)+$/.test(text))).toContain('aaaa');
  });
});

it('the preferred language is only searched for in the length that a browser sends', () => {
  expect(preferredLanguage(`${' '.repeat(600)},tr`, 'en')).toBe('en');
});

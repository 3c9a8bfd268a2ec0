import { isPrefetch } from '../../lib/http/callback.controller.js';
import { resultChanges } from '../../lib/settlement/result-fields.js';
import { findBankPage } from '../../lib/gateway/readings/pages.js';
import { ReplyFields } from '../../lib/gateway/readings/reply-fields.js';
import { keptResult } from '../../lib/gateway/kept-result.js';
import { replyText } from '../../lib/gateway/transport/attempt.js';
import { holdsCard, keptNote, Masker } from '../../lib/payment/kept-text.js';
import { preferredLanguage } from '../../lib/runtime/text-language.js';
import {
  expressionsIn,
  growthProblem,
  HOSTILE_TEXTS,
  hostileTexts,
  searchWith,
  type TextOf,
} from './regular-expressions.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const { found, constructions } = expressionsIn(['lib', 'sample/src', 'sample/public']);

/** The problem of `work` with the first text that causes one. */
function problemOf(work: (text: string) => unknown, texts: readonly TextOf[]): string | null {
  for (const textOf of texts) {
    const problem = growthProblem(work, textOf);
    if (problem !== null) return `${JSON.stringify(textOf(12))}: ${problem}`;
  }
  return null;
}

it.each<[RegExp, string]>([
  [/\s*;\s*/, 'quadratic'],
  [/\/+$/, 'quadratic'],
  [/^(a+)+$/, 'exponential'],
])('the measurement detects that the time of %s is %s', (expression) => {
  expect(problemOf(searchWith(expression), hostileTexts(expression))).toMatch(/ms for/);
});

describe('on hostile texts of up to 64 KiB, a regular expression', () => {
  it.each(found.map(({ name, expression }) => [name, expression] as const))(
    'takes linear time: %s',
    (_name, expression) => {
      expect(problemOf(searchWith(expression), hostileTexts(expression))).toBeNull();
    },
  );
});

/** Examples of the expressions that the code constructs at run time, by file. */
const CONSTRUCTED: Readonly<Record<string, readonly RegExp[]>> = {
  // From constants.
  'lib/gateway/kept-result.ts': [/^(?:(?:[0-3]?\d[/.-](?:19|20)\d\d)(?:[ T][0-2]?\d:[0-5]\d)?|(?:19|20)\d\d[01]\d)$/],
  // From an id that was just generated.
  'lib/simulator/wire-values.ts': [/"0b5c1d6e([^"]*)"/g],
  'lib/gateway/wire-body.ts': [/"0b5c1d6e([^"]*)"/g],
  // From the digits of a card's mask.
  'lib/payment/kept-text.ts': [/450803\d{2,9}4509/],
};

describe('regular expressions that are constructed at run time', () => {
  it('are all listed here', () => {
    expect(constructions).toEqual(Object.fromEntries(Object.keys(CONSTRUCTED).map((file) => [file, 1])));
  });

  it.each(Object.entries(CONSTRUCTED))('take linear time in %s', (_file, expressions) => {
    for (const expression of expressions) {
      expect(problemOf(searchWith(expression), hostileTexts(expression))).toBeNull();
    }
  });
});

const CARD = { cardNo: '4508034508034509', expDate: '1236', cvv: '000' };
const MASKER = new Masker(['a-secret-of-ours'], { cardDetails: CARD });
const RULES = { dateOrder: 'dmy' } as never;

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
  'a result before it is kept': (text) =>
    keptResult({ code: text, message: text, authCode: text, transactionDate: text } as never, MASKER, {} as never),
  'a result before it is stored': (text) =>
    resultChanges(
      { code: text, message: text, authCode: text, transactionDate: text } as never,
      aPaymentRecord(),
      RULES,
    ),
};

describe('on hostile texts of up to 64 KiB, reading', () => {
  it.each(Object.entries(READERS))('%s takes linear time', (_what, read) => {
    expect(problemOf(read, HOSTILE_TEXTS)).toBeNull();
  });
});

it('the preferred language is only searched for in the length that a browser sends', () => {
  expect(preferredLanguage(`${' '.repeat(600)},tr`, 'en')).toBe('en');
});

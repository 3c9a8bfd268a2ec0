import { type ArgumentsHost, Catch } from '@nestjs/common';
import { jest } from '@jest/globals';
import { PaymentExceptionFilter } from '../../lib/errors/payment-exception.filter.js';
import { PaymentNotFoundError } from '../../lib/errors/payment-errors.js';
import { PaymentValidationError } from '../../lib/errors/payment-validation.error.js';
import type { RefusedForm } from '../../lib/errors/refused-form.js';
import { BANK_PAGE_HEADERS } from '../../lib/payment/bank-page-headers.js';
import { logLines } from '../flows/log-lines.js';

const CARD_NUMBER = '4508034508034509';
const WRONG_CODE = new PaymentValidationError([
  { path: 'cardDetails.cvv', rule: 'securityCode', message: { en: '$property is wrong', tr: '$property yanlış' } },
]);

type Give = (refused: RefusedForm) => string | null | Promise<string | null>;

@Catch()
class ShopFilter extends PaymentExceptionFilter {
  constructor(private readonly give: Give) {
    super({ language: 'en' });
  }

  protected override form(refused: RefusedForm): string | null | Promise<string | null> {
    return this.give(refused);
  }
}

class Answer {
  headersSent = false;
  code = 0;
  body = '';
  readonly headers = new Map<string, string>();

  getHeader = (name: string): string | undefined => this.headers.get(name.toLowerCase());
  header = (name: string, value: string): unknown => this.headers.set(name.toLowerCase(), value);
  removeHeader = (name: string): unknown => this.headers.delete(name.toLowerCase());
  status = (code: number): this => {
    this.code = code;
    return this;
  };
  send = (body: string): void => {
    this.headersSent = true;
    this.body = body;
  };
}

function hostOf(answer: Answer, body: unknown = {}): ArgumentsHost {
  const http = { getResponse: () => answer, getRequest: () => ({ headers: { accept: 'text/html' }, body }) };
  return { getType: () => 'http', switchToHttp: () => http } as unknown as ArgumentsHost;
}

describe('a form that is to be shown again', () => {
  const log = logLines();
  afterEach(() => jest.useRealTimers());

  it.each<[string, Give, RegExp | null]>([
    ['is null', () => null, null],
    ['is empty', () => '', null],
    ['is no text', () => ({}) as string, null],
    ['is a promise of nothing', () => Promise.resolve(null), null],
    [
      'throws',
      () => {
        throw new TypeError(`no template for ${CARD_NUMBER}, sorry`);
      },
      /^error The form could not be shown again, so the buyer gets the plain page: TypeError: no template for sorry, at .+\.$/,
    ],
    [
      'throws what is no Error',
      () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- a host may throw anything
        throw CARD_NUMBER;
      },
      /: threw something that is no Error\.$/,
    ],
    [
      'throws an Error that cannot be looked at',
      () => {
        throw Object.assign(new Error('broken'), { name: Symbol('name') });
      },
      /: threw something that is no Error\.$/,
    ],
    [
      'throws a proxy that is gone',
      () => {
        const { proxy, revoke } = Proxy.revocable(new Error('broken'), {});
        revoke();
        throw proxy;
      },
      /: threw something that is no Error\.$/,
    ],
  ])('%s: the buyer gets the plain page', async (_what, give, line) => {
    const answer = new Answer();
    await new ShopFilter(give).catch(WRONG_CODE, hostOf(answer));
    expect([answer.code, answer.body]).toEqual([400, expect.stringContaining('Please check what you entered')]);
    expect(log).toEqual(line === null ? [] : [expect.stringMatching(line)]);
    expect(log.join()).not.toContain(CARD_NUMBER);
  });

  it('is waited for ten seconds, then the buyer gets the plain page', async () => {
    jest.useFakeTimers();
    const answer = new Answer();
    let late: (html: string) => void = () => undefined;
    const done = new ShopFilter(() => new Promise((resolve) => (late = resolve))).catch(WRONG_CODE, hostOf(answer));
    await jest.advanceTimersByTimeAsync(9_999);
    expect(answer.headersSent).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await done;
    expect([answer.code, answer.body]).toEqual([400, expect.stringContaining('Please check what you entered')]);
    expect(log).toEqual([expect.stringMatching(/longer than 10 seconds/)]);
    late('<p>late</p>');
    await jest.advanceTimersByTimeAsync(1);
    expect(answer.body).not.toContain('late');
  });

  it('is not sent after another answer', async () => {
    const answer = new Answer();
    const done = new ShopFilter(() => {
      answer.send('the host’s own');
      return '<p>form</p>';
    }).catch(WRONG_CODE, hostOf(answer));
    await done;
    expect(answer.body).toBe('the host’s own');
  });

  it('never rejects, even where it cannot be sent', async () => {
    const answer = new Answer();
    answer.send = () => {
      throw new Error('the connection is gone');
    };
    await new ShopFilter(() => '<p>form</p>').catch(WRONG_CODE, hostOf(answer));
    expect(log).toEqual([
      expect.stringMatching(/^error The form could not be sent: Error: the connection is gone, at .+\.$/),
    ]);
  });

  it('is not sent where the host has begun an answer on Fastify’s raw response', async () => {
    const answer = Object.assign(new Answer(), { raw: { headersSent: true } });
    await new ShopFilter(() => '<p>form</p>').catch(WRONG_CODE, hostOf(answer));
    expect(answer.body).toBe('');
  });

  it('has the policy that the route has set, but not the bank’s', async () => {
    for (const [set, kept] of [
      ["default-src 'self'", "default-src 'self'"],
      [BANK_PAGE_HEADERS['Content-Security-Policy'], undefined],
    ] as const) {
      const answer = new Answer();
      answer.header('Content-Security-Policy', set);
      await new ShopFilter(() => '<p>form</p>').catch(WRONG_CODE, hostOf(answer));
      expect([answer.body, answer.getHeader('content-security-policy')]).toEqual(['<p>form</p>', kept]);
    }
  });

  it('is not asked for where no form can help', async () => {
    const give = jest.fn<Give>();
    const answer = new Answer();
    await new ShopFilter(give).catch(new PaymentNotFoundError(), hostOf(answer));
    await new ShopFilter(give).catch(
      new PaymentValidationError([{ path: 'reference', rule: 'text', message: 'is wrong' }]),
      hostOf(new Answer()),
    );
    expect(give).not.toHaveBeenCalled();
    expect(answer.code).toBe(404);
  });

  const NAME = 'cardHolderInfo.cardHolderName';
  const PHONE = 'cardHolderInfo.buyerGsm';
  const holder = (cardHolderName: unknown, buyerGsm: unknown = ''): object => ({
    cardDetails: { cardNo: '4508 0345 0803 4509', expDate: '12/36', cvv: '737' },
    cardHolderInfo: { cardHolderName, buyerGsm },
  });

  it.each<[string, unknown, Record<string, string>]>([
    [
      'a name and a phone',
      holder('ADA "Y" <b>', '+90 555 111 22 33'),
      { [NAME]: 'ADA "Y" <b>', [PHONE]: '+90 555 111 22 33' },
    ],
    ['flat names', { [NAME]: 'ADA', 'cardHolderInfo[buyerGsm]': '5551112' }, { [NAME]: 'ADA', [PHONE]: '5551112' }],
    ['instalments', { installmentCount: '12' }, { installmentCount: '12' }],
    ['instalments that may be a code', { installmentCount: '737' }, {}],
    ['the number as the name', holder('4508 0345 0803 4509'), {}],
    ['part of the number as the phone', holder('', '0345 0803'), {}],
    ['the code and the expiry as the name', holder('ADA 737'), {}],
    ['digits of other scripts as the name', holder('٤٥٠٨'), {}],
    ['another card as the phone', holder('', '378282246310005'), {}],
    ['a Troy card as the phone', { [PHONE]: '9792 0300 0000 0000' }, {}],
    ['a Mastercard of the 2-series as the phone', { [PHONE]: '2223000048400011' }, {}],
    ['the code as the phone', holder('', '737'), {}],
    ['the expiry as the phone', holder('', '12 36'), {}],
    ['digits in circles as the name', holder('❹❺⓪❽'), {}],
    ['what is no phone', holder('', '<script>'), {}],
    ['a long name', holder('A'.repeat(101)), {}],
    ['lists and objects', holder(['ADA'], { a: 1 }), {}],
    ['no form', 'ADA', {}],
    ['nothing', null, {}],
    ['a list', [holder('ADA')], {}],
    ['a name of every object', JSON.parse('{"__proto__": {"cardHolderName": "ADA"}, "cardHolderInfo": "x"}'), {}],
  ])('shows again of %s', async (_what, body, typed) => {
    const give = jest.fn<Give>().mockReturnValue('<p>form</p>');
    await new ShopFilter(give).catch(WRONG_CODE, hostOf(new Answer(), body));
    expect(give).toHaveBeenCalledWith({
      language: 'en',
      tellBuyer: 'Please check what you entered. Nothing was charged.',
      messages: { 'cardDetails.cvv': 'Security code is wrong' },
      typed,
    });
  });
});

it.each(['javascript:alert(1)', '//evil.example', 'shop', '', '/\\evil.example'])('takes no shopUrl %j', (shopUrl) => {
  expect(() => new PaymentExceptionFilter({ shopUrl })).toThrow(TypeError);
});

it.each(['/', '/shop?a=1', 'https://shop.example/'])('takes the shopUrl %j', (shopUrl) => {
  expect(() => new PaymentExceptionFilter({ shopUrl })).not.toThrow();
});

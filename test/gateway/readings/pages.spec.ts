import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import { findBankPage, type HostedForm } from '../../../lib/gateway/readings/pages.js';
import { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';
import { sampleSale } from '../sample-sale.js';
import { replied, stubClient } from '../stub-client.js';

// Which answers have a page is in expected/answers.txt.

const SALE = sampleSale();
const HTML = '<!DOCTYPE html><html><body><form action="https://acs.example">Şifreniz için ✓</form></body></html>';
const PAGE = base64(HTML);
const ADDRESS = 'https://pay.example/p/1';
const FORM = '<form id="pay"></form><script src="https://pay.example/form.js"></script>';

function base64(text: string | number[]): string {
  return Buffer.from(text as string).toString('base64');
}

function start(
  asked: 'init3d' | HostedForm,
  answer: Parameters<typeof stubClient>[0],
  baseUrl = 'https://gateway.example',
): Promise<object> {
  const { client } = stubClient(answer, morposDialect(), { baseUrl });
  return asked === 'init3d' ? client.init3d(SALE) : client.startHosted(asked, SALE);
}

function find(reply: object, contentField?: string): string | null {
  return findBankPage(ReplyFields.parse(JSON.stringify(reply))!, contentField)?.html ?? null;
}

test.each<[html: string, content: string]>([
  [HTML, PAGE],
  [HTML, ` ${PAGE.replace(/.{76}/g, '$&\r\n')}\n`],
  ...['<!DOCTYPE x>', '<HTML><BODY></BODY></HTML>', '\n\n<script src="x"></script>', 'text <div>x</div>'].map(
    (html): [string, string] => [html, base64(html)],
  ),
  ['text <div>x</div>', base64('\ufefftext <div>x</div>')],
  ['<html>a', base64('<html>a').replace(/=+$/, '')],
])("the bank's page is Base64 of HTML in UTF-8: %j", async (html, content) => {
  expect(find({ content })).toBe(html);
  expect(await start('init3d', replied({ content }))).toEqual({ sent: true, page: { content, html } });
});

test.each([
  ...['', '  ', '==', HTML, 'Approved', base64('B0000 approved, see <our> page'), base64('{"html":"x"}')],
  base64([0x3c, 0x68, 0x74, 0x6d, 0x6c, 0x3e, 0xff, 0xfe]),
  ...[PAGE.replace(/^./, '-'), `${PAGE}!`, `=${PAGE}`],
  // A pattern that backtracks would take hours.
  ...[' '.repeat(900_000) + '!', 'A'.repeat(900_000) + '!'],
])('no page (%#)', (content) => {
  expect(find({ code: 'B0000', content })).toBeNull();
});

test('the page is the only one there is, wherever it stands, or the one in the field that is pinned', () => {
  const another = base64('<html>another</html>');
  for (const reply of [{ data: { list: [{ threeD: PAGE }] }, n: 1, t: true, z: null }, { list: [PAGE] }]) {
    expect(find(reply)).toBe(HTML);
  }
  const hidden = JSON.parse(`{"__proto__":{"htmlForm":"${PAGE}"}}`) as object;
  const two = { htmlForm: PAGE, HtmlForm: another };
  for (const reply of [{ a: PAGE, b: another }, { a: PAGE, b: { c: PAGE } }, two, {}, hidden]) {
    expect(find(reply)).toBeNull();
  }
  expect(find({ htmlForm: PAGE, other: another }, 'htmlform')).toBe(HTML);
  for (const reply of [{ other: PAGE }, { htmlForm: 'Approved', other: PAGE }, { htmlForm: { nested: PAGE } }, two]) {
    expect(find(reply, 'htmlForm')).toBeNull();
  }
});

test('the address of the page is under returnUrl, with or without a code; a form is HTML or Base64, with its end', async () => {
  for (const code of [{}, { code: 'B0000' }]) {
    const page = { redirectUrl: ADDRESS, html: null, endsAt: null };
    expect(await start('page', replied({ ...code, returnUrl: ADDRESS }))).toEqual({ sent: true, page });
  }
  for (const paymentFormContent of [FORM, base64(FORM)]) {
    const body = { code: 'B0000', paymentFormContent, paymentFormExpireTime: '2026-11-22T16:00:00+03:00' };
    const page = { redirectUrl: null, html: FORM, endsAt: new Date('2026-11-22T13:00:00Z') };
    expect(await start('embedded', replied(body))).toEqual({ sent: true, page });
  }
});

test.each(['2026-11-22T16:00:00', '22.11.2026 16:00', 'soon', '2026-13-45T99:00:00Z', 7])(
  'an end without its offset, or that is none (%s), is not believed',
  async (paymentFormExpireTime) => {
    const answer = replied({ paymentFormContent: FORM, paymentFormExpireTime });
    expect(await start('embedded', answer)).toMatchObject({ page: { endsAt: null } });
  },
);

test.each([
  ...['http://pay.example/p/1', 'http://127.0.0.1:8080/p', 'https://', '/p/1', '//pay.example/p', ''],
  ...['javascript:alert(1)', 'data:text/html,<b>', 'https://pay.example/"onclick=', 'https://pay.example/<script>'],
  ...['https://pay.example@evil.example/p', 'https://:secret@pay.example/p', 'https://pay.example\\@evil.example/'],
  ...['https://pay.example/p\r\nSet-Cookie: a=b', 'https://pay.example/\u200b', ['https://pay.example/p/1']],
  // More than 2 KiB, also in UTF-8; and the shop's own.
  ...[`https://pay.example/${'a'.repeat(2_048)}`, `https://pay.example/${'ş'.repeat(1_020)}`],
  `${SALE.returnUrl}?a=b`,
])('a page at %j is not opened', async (returnUrl) => {
  const answer = replied({ code: 'B0000', returnUrl });
  expect(await start('page', answer)).toMatchObject({ page: null, reason: 'unreadable' });
});

test('a gateway on this machine may have its page there, without TLS, and nowhere else', async () => {
  const local = async (host: string) =>
    start('page', replied({ returnUrl: `http://${host}/p` }), 'http://127.0.0.1:3001');
  for (const host of ['localhost:3000', '127.0.0.1:8080', '[::1]:99']) {
    expect(await local(host)).toMatchObject({ page: { redirectUrl: `http://${host}/p` } });
  }
  for (const host of ['pay.example', '127.0.0.1.evil.example', 'localhost.evil.example']) {
    expect(await local(host)).toMatchObject({ page: null });
  }
});

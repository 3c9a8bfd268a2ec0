import { decodeBankPage, findBankPage } from '../../../lib/gateway/readings/bank-page.js';
import { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';

const HTML = '<!DOCTYPE html><html><body><form action="https://acs.example">Şifreniz için ödeme ✓</form></body></html>';

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function find(reply: object, contentField?: string): string | null {
  return findBankPage(ReplyFields.parse(JSON.stringify(reply))!, contentField)?.content ?? null;
}

describe("the bank's page", () => {
  it.each([
    ['a document', HTML],
    ['a form alone', '<form method="post" action="https://acs.example"></form><script>x()</script>'],
    ['a doctype alone', '<!DOCTYPE x>'],
    ['upper case', '<HTML><BODY></BODY></HTML>'],
    ['a script', '\n\n<script src="x"></script>'],
    ['text before it', '\ufefftext <div>x</div>'],
  ])('is Base64 of HTML in UTF-8: %s', (_name, html) => {
    expect(decodeBankPage(base64(html))).toBe(html.replace('\ufeff', ''));
  });

  it('may be wrapped in lines', () => {
    const wrapped = ` ${base64(HTML).replace(/.{76}/g, '$&\r\n')}\n`;
    expect(decodeBankPage(wrapped)).toBe(HTML);
    expect(find({ html: wrapped })).toBe(wrapped);
  });

  it('may lack its padding', () => {
    expect(decodeBankPage(base64('<html>a').replace(/=+$/, ''))).toBe('<html>a');
  });

  it.each([
    ['nothing', ''],
    ['space', '  '],
    ['padding alone', '=='],
    ['HTML as it is', HTML],
    ['a word that Base64 can be', 'Approved'],
    ['Base64 of plain text', base64('B0000 approved, see <our> page')],
    ['Base64 of JSON', base64('{"html":"x"}')],
    ['Base64 of what is no UTF-8', Buffer.from([0x3c, 0x68, 0x74, 0x6d, 0x6c, 0x3e, 0xff, 0xfe]).toString('base64')],
    ['another alphabet', base64(HTML).replace(/^./, '-')],
    ['rubbish at the end', `${base64(HTML)}!`],
    ['padding in the middle', `=${base64(HTML)}`],
  ])('is not %s', (_name, content) => {
    expect(decodeBankPage(content)).toBeNull();
    expect(find({ code: 'B0000', content })).toBeNull();
  });

  // A pattern that backtracks would take hours.
  it('is decided upon in one go, however long the answer is', () => {
    for (const text of [' '.repeat(1_000_000) + '!', 'A'.repeat(1_000_000) + '!', '=\n'.repeat(500_000) + '!']) {
      expect(decodeBankPage(text)).toBeNull();
    }
  });
});

describe('finding the page in an answer', () => {
  const page = base64(HTML);

  it('takes the one there is, wherever it stands', () => {
    expect(find({ code: 'B0000', htmlForm: page })).toBe(page);
    expect(find({ code: 'B0000', data: { list: [{ threeD: page }] }, n: 1, t: true, z: null })).toBe(page);
    expect(find({ list: [page] })).toBe(page);
  });

  it('takes none where there are two', () => {
    expect(find({ a: page, b: base64('<html>another</html>') })).toBeNull();
    expect(find({ a: page, b: { c: page } })).toBeNull();
    expect(find({ htmlForm: page, HtmlForm: base64('<html>another</html>') })).toBeNull();
  });

  it('takes none where there is none', () => {
    expect(find({ code: 'B0000', message: 'Approved' })).toBeNull();
    expect(find({})).toBeNull();
    expect(find(JSON.parse(`{"__proto__":{"htmlForm":"${page}"}}`) as object)).toBeNull();
  });

  it('takes the one in the field that is pinned, and no other', () => {
    const reply = { htmlForm: page, other: base64('<html>another</html>') };
    expect(find(reply, 'htmlform')).toBe(page);
    expect(find(reply, 'missing')).toBeNull();
    expect(find({ htmlForm: 'Approved', other: page }, 'htmlForm')).toBeNull();
    expect(find({ htmlForm: { nested: page } }, 'htmlForm')).toBeNull();
    expect(find({ htmlForm: page, HtmlForm: base64('<html>another</html>') }, 'htmlForm')).toBeNull();
  });
});

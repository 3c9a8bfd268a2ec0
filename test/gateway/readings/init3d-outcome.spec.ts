import { DEFAULT_CODE_SETS } from '../../../lib/gateway/dialects/default-code-sets.js';
import { standardDialect } from '../../../lib/gateway/dialects/standard.dialect.js';
import { type Init3dOutcome, init3dOutcome } from '../../../lib/gateway/readings/init3d-outcome.js';
import type { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';

const STANDARD = standardDialect({ signer: () => '' }).operations.init3d;
const APPROVED = { code: 'B0000', conversationId: 'ABC1' };
const HTML = '<html><body><form action="https://acs.example">Şifre</form></body></html>';
const PAGE = Buffer.from(HTML).toString('base64');

function read(body: unknown, status = 200, operation = STANDARD): Init3dOutcome {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return init3dOutcome({ sent: true, reply: { status, text } }, operation, 'ABC1', { codes: DEFAULT_CODE_SETS });
}

function fail(): never {
  throw new Error('a dialect that fails');
}

describe('the answer to an Init3d', () => {
  it('is the page, as received and as text', () => {
    expect(read({ ...APPROVED, htmlForm: PAGE })).toEqual({ content: PAGE, html: HTML });
  });

  it('needs no code', () => {
    expect(read({ content: PAGE })).toMatchObject({ html: HTML });
  });

  it.each([
    ['no page', { code: 'B0000' }, 200, 'unreadable'],
    ['a page that is not Base64', { code: 'B0000', htmlForm: HTML }, 200, 'unreadable'],
    ['a page that is not HTML', { code: 'B0000', htmlForm: 'QUJD' }, 200, 'unreadable'],
    ['two pages', { code: 'B0000', a: PAGE, b: PAGE }, 200, 'unreadable'],
    ['no JSON', `<html>${PAGE}</html>`, 200, 'unreadable'],
    ['null', 'null', 200, 'unreadable'],
    ['a list', JSON.stringify([PAGE]), 200, 'unreadable'],
    ['a decline beside the page', { code: 'B0051', htmlForm: PAGE }, 200, 'declined'],
    ['an unheard-of code beside the page', { code: 'X', htmlForm: PAGE }, 200, 'unrecognised_code'],
    ['an indeterminate code beside the page', { code: 'B0096', htmlForm: PAGE }, 200, 'unrecognised_code'],
    ['two codes', { code: 'B0000', resultCode: 'B0051', htmlForm: PAGE }, 200, 'declined'],
    ['another id', { code: 'B0000', conversationId: 'X', htmlForm: PAGE }, 200, 'conversation_mismatch'],
    ['an id that is no text', { code: 'B0000', conversationId: ['X'], htmlForm: PAGE }, 200, 'conversation_mismatch'],
    ['a page with status 400', { ...APPROVED, htmlForm: PAGE }, 400, 'refused'],
    ['a page with status 302', { ...APPROVED, htmlForm: PAGE }, 302, 'refused'],
    ['a page with status 500', { ...APPROVED, htmlForm: PAGE }, 500, 'server_error'],
    ['no JSON with status 403', '<html>', 403, 'refused'],
    ['no JSON with status 499', '<html>', 499, 'refused'],
    ['no JSON with status 500', '<html>', 500, 'server_error'],
    ['no JSON with status 503', '<html>', 503, 'server_error'],
  ])('%s starts nothing', (_name, body, status, reason) => {
    expect(read(body, status)).toMatchObject({ content: null, reason });
  });

  it('starts nothing when the dialect throws while it looks for the page', () => {
    const failing = { ...STANDARD, read: fail };
    expect(read({ ...APPROVED, htmlForm: PAGE }, 200, failing)).toMatchObject({ content: null, reason: 'unreadable' });
  });

  it('starts nothing with a page of a dialect that is none', () => {
    const pageless = {
      ...STANDARD,
      read: (fields: ReplyFields) => ({ ...STANDARD.read(fields), content: 'not a page' }),
    };
    expect(read(APPROVED, 200, pageless)).toMatchObject({ content: null, reason: 'unreadable' });
  });

  it.each([
    ['deadline', 'no_answer'],
    ['connection_lost', 'no_answer'],
    ['reply_too_large', 'no_answer'],
    ['reply_unreadable', 'no_answer'],
  ] as const)('starts nothing when it is lost: %s', (cause, reason) => {
    const answer = { sent: true, reply: null, cause } as const;
    expect(init3dOutcome(answer, STANDARD, 'ABC1', { codes: DEFAULT_CODE_SETS })).toEqual({
      content: null,
      reason,
      result: null,
    });
  });

  it('says nothing of the payment where it is about another one', () => {
    const foreign = { code: 'B0000', conversationId: 'X', orderId: 'of another', htmlForm: PAGE };
    expect(read(foreign)).toEqual({ content: null, reason: 'conversation_mismatch', result: null });
  });

  it.each([
    ['has no page', { code: 'B0000', orderId: 'o-1' }, 200],
    ['declines', { code: 'B0051', orderId: 'o-1' }, 200],
    ['has an unheard-of code', { code: 'X', orderId: 'o-1' }, 200],
    ['has status 400', { code: 'X', orderId: 'o-1' }, 400],
  ])('is told where it %s', (_how, body, status) => {
    expect(read(body, status)).toMatchObject({ content: null, result: { code: body.code, orderId: 'o-1' } });
  });

  it('is told without its page where it starts nothing', () => {
    const declined = read({ code: 'B0051', message: 'no', htmlForm: PAGE });
    expect(declined).toMatchObject({ result: { code: 'B0051', message: 'no' } });
    expect(JSON.stringify(declined)).not.toContain(PAGE);
  });
});

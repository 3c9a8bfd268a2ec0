import { type Init3dOutcome, init3dOutcome } from '../../../lib/gateway/readings/init3d-outcome.js';
import type { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';
import type { Answer } from '../../../lib/gateway/transport/transmission.js';
import { replied, standard } from '../stub-client.js';
import { QUESTION } from './question.js';

const INIT3D = standard().operations.init3d;
const HTML = '<html><body><form action="https://acs.example">Şifre</form></body></html>';
const PAGE = Buffer.from(HTML).toString('base64');
const APPROVED = { code: 'B0000', conversationId: 'ABC1', htmlForm: PAGE };

function read(body: unknown, status = 200, operation = INIT3D): Init3dOutcome {
  return init3dOutcome(replied(body, status) as Answer, operation, QUESTION);
}

it('the page is shown as received and as text, and needs no code', () => {
  expect(read(APPROVED)).toEqual({ content: PAGE, html: HTML });
  expect(read({ content: PAGE })).toMatchObject({ html: HTML });
});

it.each<[body: unknown, status: number, reason: string]>([
  [{ code: 'B0000' }, 200, 'unreadable'],
  [{ code: 'B0000', htmlForm: HTML }, 200, 'unreadable'],
  [{ code: 'B0000', htmlForm: 'QUJD' }, 200, 'unreadable'],
  [{ code: 'B0000', a: PAGE, b: PAGE }, 200, 'unreadable'],
  ...[`<html>${PAGE}</html>`, 'null', JSON.stringify([PAGE])].map(
    (text) => [text, 200, 'unreadable'] as [string, number, string],
  ),
  [{ code: 'B0051', htmlForm: PAGE }, 200, 'declined'],
  [{ code: 'RVV0000000012', htmlForm: PAGE }, 200, 'declined'],
  [{ code: 'B0051', conversationId: 'X', htmlForm: PAGE }, 200, 'declined'],
  ...['X', 'B0096', 'B0010', ['B0000']].map(
    (code) => [{ code, htmlForm: PAGE }, 200, 'unrecognised_code'] as [object, number, string],
  ),
  [{ code: 'B0000', resultCode: 'B0051', htmlForm: PAGE }, 200, 'unrecognised_code'],
  [{ ...APPROVED, conversationId: 'X' }, 200, 'conversation_mismatch'],
  [{ ...APPROVED, conversationId: ['X'] }, 200, 'conversation_mismatch'],
  ...[302, 400, 401, 403, 408, 422, 499].flatMap((status) => [
    [APPROVED, status, 'refused'] as [object, number, string],
    ['<html>', status, 'refused'] as [string, number, string],
  ]),
  [APPROVED, 500, 'server_error'],
  ['<html>', 503, 'server_error'],
])('%j with %d starts nothing: %s', (body, status, reason) => {
  expect(read(body, status)).toMatchObject({ content: null, reason });
});

it.each([
  ['deadline', 'no_answer'],
  ['connection_lost', 'no_answer'],
  ['reply_too_large', 'unreadable'],
  ['reply_unreadable', 'unreadable'],
] as const)('what is lost starts nothing: %s', (cause, reason) => {
  const answer = { sent: true, reply: null, cause } as const;
  expect(init3dOutcome(answer, INIT3D, QUESTION)).toEqual({ content: null, reason, result: null });
});

it('a dialect that throws, or gives a page that is none, starts nothing', () => {
  const failing = (): never => {
    throw new Error('a dialect that fails');
  };
  const pageless = (fields: ReplyFields) => ({ ...INIT3D.read(fields), content: 'not a page' });
  for (const read_ of [failing, pageless]) {
    expect(read({ code: 'B0000' }, 200, { ...INIT3D, read: read_ })).toMatchObject({
      content: null,
      reason: 'unreadable',
    });
  }
});

it('what the answer says is told, unless it is about another payment', () => {
  for (const [code, status] of [
    ['B0000', 200],
    ['B0051', 200],
    ['X', 200],
    ['X', 400],
  ] as const) {
    const { htmlForm: _page, ...pageless } = { ...APPROVED, code, orderId: 'o-1' };
    expect(read(pageless, status)).toMatchObject({ content: null, result: { code, orderId: 'o-1' } });
  }
  expect(read({ ...APPROVED, conversationId: 'X' })).toEqual({
    content: null,
    reason: 'conversation_mismatch',
    result: null,
  });
});

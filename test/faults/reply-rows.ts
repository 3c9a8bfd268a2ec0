import { gzipSync } from 'node:zlib';
import type { PaymentReason } from 'nestjs-card-payment';
import type { FaultMoment, FaultPlay } from 'nestjs-card-payment/simulator';
import { BYTE_BY_BYTE, CLOSED_AFTERWARDS, ODD } from '../rigs/odd-answers.js';

/** The promised outcome of a fault: for requests that move money (DoPayment, Auth3d, refund, void), and for those that begin one. */
export interface Row {
  readonly fault: string;
  readonly play: FaultPlay;
  readonly at: readonly FaultMoment[];
  readonly charge: readonly ['unknown' | 'failed' | 'review' | 'succeeded', PaymentReason | null];
  /** Why there is no page for the buyer; null where there is one nevertheless; undefined where it is not tested. */
  readonly begin?: PaymentReason | null;
}

const ALL: readonly FaultMoment[] = ['before', 'middle', 'after'];
/** The gateway itself answers, before the work or after it. */
const EITHER: readonly FaultMoment[] = ['before', 'after'];
const AFTER: readonly FaultMoment[] = ['after'];
const BEFORE: readonly FaultMoment[] = ['before'];

const lost = ['unknown', 'no_answer'] as const;
const broken = ['unknown', 'server_error'] as const;
const garbled = ['unknown', 'unreadable'] as const;
const indeterminate = ['unknown', 'indeterminate_code'] as const;
const refused = ['failed', 'refused'] as const;
const approved = ['succeeded', null] as const;

type Outcome = Omit<Row, 'fault' | 'play'>;

/** Each of these statuses with each of these bodies; JSON has a code. */
function statuses(list: readonly number[], bodies: readonly StatusBody[], outcome: Outcome, code?: string): Row[] {
  return list.flatMap((status) =>
    bodies.map((body) => ({
      fault: `${status}, ${code ?? `body ${body}`}`,
      play: { kind: 'status', status, body, ...(code && { code }) },
      ...outcome,
    })),
  );
}

/** An answer with status 200. */
function answer(fault: string, play: FaultPlay, outcome: Outcome): Row {
  return { fault: `200: ${fault}`, play, ...outcome };
}

function reply(body: string | Buffer, headers: Readonly<Record<string, string>> = {}): FaultPlay {
  return { kind: 'reply', status: 200, headers: { 'content-type': 'application/json', ...headers }, body };
}

const coded = (code: string, more = {}): FaultPlay => reply(JSON.stringify({ code, ...more }));

type StatusBody = 'json' | 'html' | 'empty';
const JSON_ALONE = ['json'] as const;
const WITHOUT_JSON = ['html', 'empty'] as const;
const BODIES = ['json', 'html', 'empty'] as const;

const BOMB = gzipSync(`{"code":"B0000","padding":"${'x'.repeat(100 * 1024 * 1024)}"}`);

export const ROWS: readonly Row[] = [
  { fault: 'reset', play: { kind: 'reset' }, at: ALL, charge: lost, begin: 'no_answer' },
  { fault: 'closed', play: { kind: 'close' }, at: ALL, charge: lost, begin: 'no_answer' },
  { fault: 'stalled until the deadline', play: { kind: 'stall' }, at: ALL, charge: lost, begin: 'no_answer' },
  { fault: 'half an answer', play: { kind: 'half-reply' }, at: EITHER, charge: lost, begin: 'no_answer' },

  ...statuses([500, 502, 503, 504], BODIES, { at: EITHER, charge: broken, begin: 'server_error' }),
  ...statuses([301, 302, 307, 308], JSON_ALONE, { at: EITHER, charge: broken, begin: 'refused' }),
  ...statuses([400, 403], JSON_ALONE, { at: BEFORE, charge: refused, begin: 'refused' }),
  ...statuses([401, 404, 413, 429], BODIES, { at: BEFORE, charge: refused, begin: 'refused' }),
  ...statuses([400, 403], WITHOUT_JSON, { at: EITHER, charge: broken, begin: 'refused' }),
  ...statuses([408, 409], BODIES, { at: EITHER, charge: broken, begin: 'refused' }),
  ...statuses(
    [402, 410, 422, 423, 424, 425, 451, 499],
    JSON_ALONE,
    { at: EITHER, charge: broken, begin: 'refused' },
    'GW-TIMEOUT',
  ),
  ...statuses([422], JSON_ALONE, { at: BEFORE, charge: refused, begin: 'refused' }, 'B0051'),
  ...['B0000', 'B0096', 'B0010'].flatMap((code) =>
    statuses([400], JSON_ALONE, { at: EITHER, charge: indeterminate, begin: 'refused' }, code),
  ),

  ...(['html', 'empty', 'null', 'array', 'string', 'empty-object'] as const).map((name) =>
    answer(name, ODD[name], { at: EITHER, charge: garbled, begin: 'unreadable' }),
  ),
  ...(['cut-json', 'ten-mebibytes', 'proto'] as const).map((name) =>
    answer(name, ODD[name], { at: AFTER, charge: garbled, begin: 'unreadable' }),
  ),
  answer('100 MiB of JSON in 100 KiB of gzip', reply(BOMB, { 'content-encoding': 'gzip' }), {
    at: EITHER,
    charge: garbled,
    begin: 'unreadable',
  }),
  answer('nothing but 10,000 levels', ODD['nested-only'], { at: EITHER, charge: garbled, begin: 'unrecognised_code' }),
  answer('without code', ODD['no-code'], { at: AFTER, charge: garbled, begin: null }),

  ...(['nested', 'bom', 'latin-1', 'mojibake', 'gzip', 'text-plain', 'pascal-case'] as const).map((name) =>
    answer(`the right answer, ${name}`, ODD[name], { at: AFTER, charge: approved, begin: null }),
  ),
  answer('the right answer, byte by byte', BYTE_BY_BYTE, { at: AFTER, charge: approved, begin: null }),
  answer('the right answer, closed afterwards', CLOSED_AFTERWARDS, { at: AFTER, charge: approved, begin: null }),

  answer('an unheard-of code', ODD['unheard-of-code'], {
    at: AFTER,
    charge: ['unknown', 'unrecognised_code'],
    begin: 'unrecognised_code',
  }),
  answer('an indeterminate code', ODD['indeterminate-code'], {
    at: AFTER,
    charge: indeterminate,
    begin: 'unrecognised_code',
  }),
  ...['B0009', 'B0018', 'B0026', 'B0080'].map((code) =>
    answer(code, coded(code), { at: EITHER, charge: indeterminate, begin: 'unrecognised_code' }),
  ),
  answer('a decline', coded('B0013'), { at: BEFORE, charge: ['failed', 'declined'], begin: 'declined' }),
  answer('a decline for another conversationId', coded('B0051', { conversationId: 'ANOTHER' }), {
    at: EITHER,
    charge: ['unknown', 'conversation_mismatch'],
    begin: 'declined',
  }),

  ...(
    [
      ['for another conversationId', 'wrong-conversation-id', 'conversation_mismatch'],
      ['for a smaller amount', 'smaller-amount', 'amount_mismatch'],
      ['for a larger amount', 'larger-amount', 'amount_mismatch'],
      ['in another currency', 'other-currency', 'currency_mismatch'],
      ['with a bad sign', 'bad-sign', 'sign_mismatch'],
      ['whose resultCode disagrees', 'codes-disagree', 'codes_disagree'],
      ['in part', 'partial-approval', 'approval_variant'],
    ] as const
  ).map(([what, name, reason]): Row => answer(`B0000 ${what}`, ODD[name], { at: AFTER, charge: ['review', reason] })),
];

/** Each row at each of its moments. */
export const CASES = ROWS.flatMap((row) => row.at.map((at) => ({ ...row, at, name: `${row.fault}, ${at} the work` })));

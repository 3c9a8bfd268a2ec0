import { gzipSync } from 'node:zlib';
import type { PaymentReason } from 'nestjs-card-payment';
import type { FaultMoment, FaultPlay } from 'nestjs-card-payment/simulator';
import { BYTE_BY_BYTE, CLOSED_AFTERWARDS, ODD } from '../rigs/odd-answers.js';

/** The promised outcome of a fault: for requests that move money (DoPayment, Auth3d, refund, void), and for Init3d. */
export interface Row {
  readonly fault: string;
  readonly play: FaultPlay;
  readonly at: readonly FaultMoment[];
  readonly charge: readonly ['unknown' | 'failed' | 'review' | 'succeeded', PaymentReason | null];
  /** Why an Init3d fails; null where it succeeds nevertheless; undefined where it is not tested. */
  readonly init3d?: PaymentReason | null;
}

const ALL: readonly FaultMoment[] = ['before', 'middle', 'after'];
/** The gateway itself answers, before the work or after it. */
const EITHER: readonly FaultMoment[] = ['before', 'after'];
const AFTER: readonly FaultMoment[] = ['after'];
const BEFORE: readonly FaultMoment[] = ['before'];

const lost = ['unknown', 'no_answer'] as const;
const broken = ['unknown', 'server_error'] as const;
const garbled = ['unknown', 'unreadable'] as const;
const refused = ['failed', 'refused'] as const;
const approved = ['succeeded', null] as const;

export const ROWS: readonly Row[] = [
  { fault: 'reset', play: { kind: 'reset' }, at: ALL, charge: lost, init3d: 'no_answer' },
  { fault: 'closed', play: { kind: 'close' }, at: ALL, charge: lost, init3d: 'no_answer' },
  { fault: 'stalled until the deadline', play: { kind: 'stall' }, at: ALL, charge: lost, init3d: 'no_answer' },
  { fault: 'half an answer', play: { kind: 'half-reply' }, at: EITHER, charge: lost, init3d: 'no_answer' },

  ...[500, 502, 503, 504].flatMap((status) =>
    (['json', 'html', 'empty'] as const).map((body) => ({
      fault: `${status}, body ${body}`,
      play: { kind: 'status' as const, status, body },
      at: EITHER,
      charge: broken,
      init3d: 'server_error' as const,
    })),
  ),
  ...[301, 302, 307, 308].map((status) => ({
    fault: `${status}`,
    play: { kind: 'status' as const, status },
    at: EITHER,
    charge: broken,
    init3d: 'refused' as const,
  })),

  ...[400, 403].map((status) => ({
    fault: `${status} with a code`,
    play: { kind: 'status' as const, status },
    at: BEFORE,
    charge: refused,
    init3d: 'refused' as const,
  })),
  ...[401, 404, 413, 429].flatMap((status) =>
    (['json', 'html', 'empty'] as const).map((body) => ({
      fault: `${status}, body ${body}`,
      play: { kind: 'status' as const, status, body },
      at: BEFORE,
      charge: refused,
      init3d: 'refused' as const,
    })),
  ),
  ...[400, 403, 408, 409].flatMap((status) =>
    (['html', 'empty'] as const).map((body) => ({
      fault: `${status}, body ${body}`,
      play: { kind: 'status' as const, status, body },
      at: EITHER,
      charge: broken,
      init3d: 'refused' as const,
    })),
  ),
  ...[408, 409].map((status) => ({
    fault: `${status} with a code`,
    play: { kind: 'status' as const, status },
    at: EITHER,
    charge: broken,
    init3d: 'refused' as const,
  })),
  ...[402, 410, 422, 423, 424, 425, 451, 499].map((status) => ({
    fault: `${status} with an unheard-of code`,
    play: { kind: 'status' as const, status, code: 'GW-TIMEOUT' },
    at: EITHER,
    charge: broken,
    init3d: 'refused' as const,
  })),
  {
    fault: '422 with a decline',
    play: { kind: 'status', status: 422, code: 'B0051' },
    at: BEFORE,
    charge: refused,
    init3d: 'refused',
  },
  ...['B0000', 'B0096', 'B0010'].map((code) => ({
    fault: `400 with ${code}`,
    play: { kind: 'status' as const, status: 400, code },
    at: EITHER,
    charge: ['unknown', 'indeterminate_code'] as const,
    init3d: 'refused' as const,
  })),

  ...(['html', 'empty', 'null', 'array', 'string', 'empty-object'] as const).map((name) => ({
    fault: `200: ${name}`,
    play: ODD[name],
    at: EITHER,
    charge: garbled,
    init3d: 'unreadable' as const,
  })),
  {
    fault: '200: nothing but 10,000 levels',
    play: ODD['nested-only'],
    at: EITHER,
    charge: garbled,
    init3d: 'unrecognised_code',
  },
  { fault: '200: cut JSON', play: ODD['cut-json'], at: AFTER, charge: garbled, init3d: 'unreadable' },
  { fault: '200: 10 MiB', play: ODD['ten-mebibytes'], at: AFTER, charge: garbled, init3d: 'unreadable' },
  {
    fault: '200: 100 MiB of JSON in 100 KiB of gzip',
    play: {
      kind: 'reply',
      status: 200,
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(`{"code":"B0000","padding":"${'x'.repeat(100 * 1024 * 1024)}"}`),
    },
    at: EITHER,
    charge: garbled,
    init3d: 'unreadable',
  },
  {
    fault: '200: the answer below __proto__',
    play: ODD.proto,
    at: AFTER,
    charge: garbled,
    init3d: 'unreadable',
  },
  { fault: '200: without code', play: ODD['no-code'], at: AFTER, charge: garbled, init3d: null },
  { fault: '200: beside 10,000 levels', play: ODD.nested, at: AFTER, charge: approved, init3d: null },

  ...[
    ...(['bom', 'latin-1', 'mojibake', 'gzip', 'text-plain', 'pascal-case'] as const).map(
      (name) => [name, ODD[name]] as const,
    ),
    ['byte by byte', BYTE_BY_BYTE] as const,
    ['closed afterwards', CLOSED_AFTERWARDS] as const,
  ].map(([how, play]) => ({
    fault: `200: the right answer, ${how}`,
    play,
    at: AFTER,
    charge: approved,
    init3d: null,
  })),

  {
    fault: '200 with an unheard-of code',
    play: ODD['unheard-of-code'],
    at: AFTER,
    charge: ['unknown', 'unrecognised_code'],
    init3d: 'unrecognised_code',
  },
  {
    fault: '200 with an indeterminate code',
    play: ODD['indeterminate-code'],
    at: AFTER,
    charge: ['unknown', 'indeterminate_code'],
    init3d: 'unrecognised_code',
  },

  ...['B0009', 'B0018', 'B0026', 'B0080'].map((code) => ({
    fault: `200 with ${code}`,
    play: { kind: 'reply' as const, status: 200, body: JSON.stringify({ code }) },
    at: EITHER,
    charge: ['unknown', 'indeterminate_code'] as const,
    init3d: 'unrecognised_code' as const,
  })),
  {
    fault: '200 with a decline',
    play: { kind: 'reply', status: 200, body: JSON.stringify({ code: 'B0013', message: 'Invalid amount' }) },
    at: BEFORE,
    charge: ['failed', 'declined'],
    init3d: 'declined',
  },
  {
    fault: 'a decline for another conversationId',
    play: { kind: 'reply', status: 200, body: JSON.stringify({ code: 'B0051', conversationId: 'ANOTHER' }) },
    at: EITHER,
    charge: ['unknown', 'conversation_mismatch'],
    init3d: 'declined',
  },

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
  ).map(([what, name, reason]) => ({
    fault: `B0000 ${what}`,
    play: ODD[name],
    at: AFTER,
    charge: ['review', reason] as const,
  })),
];

/** Each row at each of its moments. */
export const CASES = ROWS.flatMap((row) => row.at.map((at) => ({ ...row, at, name: `${row.fault}, ${at} the work` })));

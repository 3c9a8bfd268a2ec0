import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, FaultPlay, FaultQueue, RecordedRequest, WireReply } from './faults.js';
import {
  errorFields,
  type Gateway,
  type GatewayWork,
  operationOf,
  OPERATIONS,
  operationsAt,
  refusedWork,
} from './operations.js';
import { Refusal, REFUSAL_CODES } from './requests.js';
import { stringifyExact } from './wire-values.js';

/** The gateway's HTTP: records every request, plays faults, sends answers. */
export class GatewayServer {
  /** Oldest first. */
  readonly requests: RecordedRequest[] = [];

  constructor(
    private readonly gateway: Gateway,
    private readonly faults: FaultQueue,
  ) {}

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const record = this.record(request);
    // A fault is for one operation. Where a path has several, only the body tells which one is asked for.
    const candidates = operationsAt(record.path, this.gateway.settings.dialect);
    const readEarly = candidates.length > 1 ? await receiveText(request) : undefined;
    const operation = operationOf(candidates, readEarly ? jsonOf(readEarly) : null);
    record.operation = operation;
    if (operation) this.gateway.ledger.countArrival(operation);
    const fault = operation ? this.faults.take(operation) : undefined;
    if (fault) record.fault = fault.play.kind;
    if (fault?.at === 'before' && (await interrupted(fault, record, response))) return;

    const text = readEarly === undefined ? await receiveText(request) : readEarly;
    if (text === null) return;
    this.note(record, text);
    if (fault?.at === 'middle' && (await interrupted(fault, record, response))) return;

    const work = this.work(record, text);
    if (work.refusal) {
      const { code, message, problems } = work.refusal;
      record.refusal = { code, message, problems };
    }
    if (!fault || fault.at === 'after' || fault.play.kind === 'stall') work.commit();
    if (fault?.at === 'after' && (await interrupted(fault, record, response))) return;

    if (work.pace === 'never') return;
    if (work.pace === 'slow') await delay(this.gateway.settings.slowMs, undefined, { ref: false });
    await this.answer(response, this.reply(work, fault?.play, record), fault?.play, record);
    if (fault && fault.play.kind !== 'stall') fault.recordPlay(record);
  }

  private record(request: IncomingMessage): RecordedRequest {
    const record: RecordedRequest = {
      operation: null,
      method: request.method ?? '',
      path: request.url ?? '/',
      headers: request.headers,
      at: this.gateway.settings.clock(),
      text: '',
      body: undefined,
      refusal: null,
      fault: null,
      answer: null,
    };
    this.requests.push(record);
    if (this.requests.length > this.gateway.settings.requestLimit) this.requests.shift();
    return record;
  }

  private note(record: RecordedRequest, text: string): void {
    record.text = text;
    record.body = jsonOf(text);
    const { conversationId } = (record.body ?? {}) as { conversationId?: unknown };
    if (record.operation && typeof conversationId === 'string') {
      const { movesMoney } = OPERATIONS[record.operation];
      this.gateway.ledger.countCall(record.operation, conversationId, record.at, movesMoney);
    }
  }

  private work({ operation, method, headers }: RecordedRequest, text: string): GatewayWork {
    if (!operation) return refusedWork(new Refusal(404, REFUSAL_CODES.path, 'No such path'));
    if (method !== 'POST') return refusedWork(new Refusal(405, REFUSAL_CODES.method, 'Only POST is allowed'));
    return this.gateway.workOf(operation, headers, text);
  }

  private reply(work: GatewayWork, play: FaultPlay | undefined, record: RecordedRequest): WireReply {
    const { dialect, credentials } = this.gateway.settings;
    if (play?.kind === 'reply')
      return { status: play.status, headers: play.headers ?? {}, body: Buffer.from(play.body ?? '') };
    if (play?.kind === 'status') return this.statusReply(play);
    if (play?.kind === 'edit') play.edit(work.fields, record);
    if (work.fields.sign === '') work.fields.sign = dialect.replySign(work.fields, credentials.apiKey);
    return jsonReply(work.status, stringifyExact(work.fields));
  }

  private statusReply({ status, body = 'json', code }: Extract<FaultPlay, { kind: 'status' }>): WireReply {
    const redirect = { location: `${this.gateway.settings.publicUrl}/v1/elsewhere` };
    const extra = status >= 300 && status < 400 ? redirect : {};
    const html = Buffer.from(`<!doctype html><title>${status}</title><h1>${status}</h1>`);
    if (body === 'empty') return { status, headers: extra, body: Buffer.alloc(0) };
    if (body === 'html') return { status, headers: { ...extra, 'content-type': 'text/html' }, body: html };
    const fields = errorFields(code ?? `RVV0000000${status}`, `Status ${status}`);
    const reply = jsonReply(status, stringifyExact(fields));
    return { ...reply, headers: { ...reply.headers, ...extra } };
  }

  private async answer(
    response: ServerResponse,
    reply: WireReply,
    play: FaultPlay | undefined,
    record: RecordedRequest,
  ): Promise<void> {
    const { status, headers, body } = reply;
    if (response.destroyed) return;
    if (play?.kind === 'send') return void (await play.send(response, reply, record));
    response.writeHead(status, { ...headers, 'content-length': body.length });
    if (play?.kind === 'half-reply') {
      const { socket } = response;
      response.write(body.subarray(0, body.length / 2), () => socket?.destroySoon());
      return;
    }
    record.answer = { status, headers, text: body.toString() };
    response.end(body);
  }
}

/** @returns null when the connection was lost before the end of the body */
export async function receiveText(request: IncomingMessage): Promise<string | null> {
  // Joined as strings: small Buffers share memory, which would keep the card.
  request.setEncoding('utf8');
  let text = '';
  try {
    for await (const part of request) text += String(part);
  } catch {
    return null;
  }
  return text;
}

/** Plays a fault of the connection. @returns whether the request ends with it */
async function interrupted(fault: Fault, record: RecordedRequest, response: ServerResponse): Promise<boolean> {
  const { socket } = response;
  switch (fault.play.kind) {
    case 'reset':
      if (socket) reset(socket);
      break;
    case 'close':
      socket?.destroySoon();
      break;
    case 'stall':
      fault.recordPlay(record);
      await Promise.race([fault.released, once(response, 'close')]);
      return response.destroyed;
    default:
      return false;
  }
  fault.recordPlay(record);
  return true;
}

/** TLS connections cannot be reset: they are destroyed instead. */
function reset(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

function jsonReply(status: number, text: string): WireReply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: Buffer.from(text) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

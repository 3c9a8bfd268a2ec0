import { Dispatcher } from 'undici';
import { APPROVED_SALE } from './payments/gateway-answers.js';

/** A gateway without a network, which approves at once, so that only the module is measured. */
export class InstantGateway extends Dispatcher {
  /** How many requests each path has had. */
  readonly requests = new Map<string, number>();

  override dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const path = request.path;
    this.requests.set(path, (this.requests.get(path) ?? 0) + 1);
    const chunks = [...(request.body as unknown as Iterable<Buffer>)];
    const { conversationId } = JSON.parse(Buffer.concat(chunks).toString()) as { conversationId: string };
    const reply = path.endsWith('CheckPayment') ? INQUIRY_REPLY : { ...APPROVED_SALE, conversationId };
    const controller = CONTROLLER as unknown as Dispatcher.DispatchController;
    setImmediate(() => {
      handler.onRequestStart?.(controller, {});
      handler.onResponseStart?.(controller, 200, { 'content-type': 'application/json' }, 'OK');
      handler.onResponseData?.(controller, Buffer.from(JSON.stringify(reply)));
      handler.onResponseEnd?.(controller, {});
    });
    return true;
  }
}

const CONTROLLER = { aborted: false, paused: false, reason: null, abort() {}, pause() {}, resume() {} };

const INQUIRY_REPLY = { responseCode: 'B0000', responseDescription: 'Approved' };

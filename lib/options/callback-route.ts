import type { PaymentStructure } from './payment-options.js';

const DEFAULT_WAIT_MS = 25_000;

/** Where and how the built-in controller answers. A class so that it can be its own injection token. */
export abstract class CallbackRoute {
  /** Below the global prefix; null where there is no such controller. */
  abstract readonly path: string | null;
  /** How long a buyer waits for Auth3d. */
  abstract readonly waitMs: number;
  /** Whether the host has said what decorates the controller, be it nothing. */
  readonly isDecorated?: boolean;
}

export function routeOf({ callback = {}, name }: PaymentStructure): CallbackRoute {
  if (callback === false) return { path: null, waitMs: DEFAULT_WAIT_MS };
  const path = trimSlashes(callback.path ?? (name === undefined ? 'payments' : `payments/${name}`));
  const decorated = callback.decorators && { isDecorated: true };
  return { path, waitMs: callback.waitMs ?? DEFAULT_WAIT_MS, ...decorated };
}

export function trimSlashes(path: string): string {
  return path.replace(/^\/+|(?<!\/)\/+$/g, '');
}

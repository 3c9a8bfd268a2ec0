import type { CallbackServer, Caller, SubjectSetup } from './caller.js';
import type { DirectKind } from './this-package.js';

export type StoreKind = 'memory' | 'sqlite' | 'postgres';

interface AnySubject {
  readonly name: string;
  /** What it does, for the page. */
  readonly does: string;
  /** The baseline: the subject of its group that it is compared with; absent for the baseline itself. */
  readonly beside?: string;
  /** The store of a subject that is this package. */
  readonly store?: StoreKind;
}

/** A subject whose process calls the gateway. */
export interface CallSubject extends AnySubject {
  readonly measures: 'calls';
  start(setup: SubjectSetup): Promise<Caller>;
}

/** A subject whose process receives the bank's callbacks. */
export interface CallbackSubject extends AnySubject {
  readonly measures: 'callbacks';
  start(setup: SubjectSetup): Promise<CallbackServer>;
}

export type Subject = CallSubject | CallbackSubject;

export interface SubjectGroup {
  readonly title: string;
  readonly subjects: readonly Subject[];
}

const BARE_ROUTE: CallbackSubject = {
  name: 'bare-route',
  does: 'a route of Fastify alone: parses the form, calls Auth3d by undici, redirects; checks and stores nothing',
  measures: 'callbacks',
  start: async (setup) => (await import('../peers/bare-fastify.js')).startBareFastify(setup),
};

/** Each process imports what it measures and nothing else. */
export const GROUPS: readonly SubjectGroup[] = [
  {
    title: 'A direct payment',
    subjects: [
      client('undici', 'a request of undici; no signature, nothing validated, nothing stored', async (setup) =>
        (await import('./bare-undici.js')).startBareUndici(setup),
      ),
      client('node-http', 'the same by node:http with a keep-alive agent', async (setup) =>
        (await import('./bare-http.js')).startBareHttp(setup),
      ),
      {
        name: 'stripe-node',
        does: 'paymentIntents.create of stripe-node, with its own HTTP client',
        measures: 'calls',
        start: async (setup) => (await import('../peers/stripe-node.js')).startStripeNode(setup),
      },
      client('iyzipay', 'payment.create of iyzipay', async (setup) =>
        (await import('../peers/iyzipay.js')).startIyzipay(setup),
      ),
      client('craftgate', 'createPayment of @craftgate/craftgate', async (setup) =>
        (await import('../peers/craftgate.js')).startCraftgate(setup),
      ),
      client(
        'naive',
        'HttpService of @nestjs/axios, input validated by class-validator, signed; not stored',
        async (setup) => (await import('./naive-way.js')).startNaiveWay(setup),
      ),
      direct('memory', 'memory', 'doPayment of this package, the store in memory'),
      direct('sqlite', 'sqlite', 'the same on SQLite, a file, with the default settings (WAL, synchronous FULL)'),
      direct('postgres', 'postgres', 'the same on PostgreSQL (fsync on), in a process of its own'),
      direct('memory-handler', 'memory', 'as memory, and an @OnPayment handler hears of each', { handler: true }),
      direct('sqlite-handler', 'sqlite', 'as sqlite, and an @OnPayment handler hears of each', { handler: true }),
    ],
  },
  {
    title: 'A callback',
    subjects: [BARE_ROUTE, callbacks('memory'), callbacks('sqlite'), callbacks('postgres')],
  },
  {
    title: 'init3d with a page of 64 KiB',
    subjects: [
      { ...direct('beside-init3d', 'memory', 'doPayment in memory, to put init3d in relation to'), beside: undefined },
      {
        name: 'undici-64k',
        does: 'a request of undici whose answer carries the page: parsed, decoded, nothing else',
        beside: 'beside-init3d',
        measures: 'calls',
        start: async (setup) => (await import('./bare-undici.js')).startBareInit3d(setup),
      },
      {
        name: 'init3d-64k',
        does: 'init3d in memory; the page is found, decoded and handed over',
        beside: 'beside-init3d',
        store: 'memory',
        measures: 'calls',
        start: async (setup) => (await import('./this-package.js')).startInit3d(setup),
      },
    ],
  },
  {
    title: 'doPayment in hosts with many DTO classes',
    subjects: [
      {
        ...direct('host-20', 'memory', 'as memory, in a host with 20 DTO classes', { dtoClasses: 20 }),
        beside: undefined,
      },
      {
        ...direct('host-2000', 'memory', 'as memory, in a host with 2,000 DTO classes', { dtoClasses: 2_000 }),
        beside: 'host-20',
      },
    ],
  },
];

function client(name: string, does: string, start: CallSubject['start']): CallSubject {
  return { name, does, beside: 'stripe-node', measures: 'calls', start };
}

function direct(name: string, store: StoreKind, does: string, kind: DirectKind = {}): CallSubject {
  const start: CallSubject['start'] = async (setup) => (await import('./this-package.js')).startDirect(setup, kind);
  return { ...client(name, does, start), store };
}

function callbacks(store: StoreKind): CallbackSubject {
  return {
    name: `callback-${store}`,
    does: `the module's own route, as ${store}: the payment found, claimed, Auth3d called and judged, stored, redirected`,
    beside: 'bare-route',
    store,
    measures: 'callbacks',
    start: async (setup) => (await import('./this-package.js')).startCallbacks(setup),
  };
}

export const SUBJECTS: readonly Subject[] = GROUPS.flatMap(({ subjects }) => subjects);

export function subjectNamed(name: string): Subject {
  const subject = SUBJECTS.find((other) => other.name === name);
  if (!subject) throw new Error(`There is no subject ${name}.`);
  return subject;
}

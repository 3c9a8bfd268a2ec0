import type { CallbackServer, Caller, SubjectSetup } from './caller.js';

export type StoreKind = 'memory' | 'sqlite' | 'postgres' | 'redis';

interface AnySubject {
  readonly name: string;
  /** What it does, for the page. */
  readonly does: string;
  /** The subject of its own group that it is put in relation to; absent for that one itself. */
  readonly beside?: string;
  /** The store of a subject that is this package. */
  readonly store?: StoreKind;
}

/** Its process calls the gateway by itself. */
export interface CallSubject extends AnySubject {
  readonly measures: 'calls';
  start(setup: SubjectSetup): Promise<Caller>;
}

/** Its process is called by the bank. */
export interface CallbackSubject extends AnySubject {
  readonly measures: 'callbacks';
  start(setup: SubjectSetup): Promise<CallbackServer>;
}

export type Subject = CallSubject | CallbackSubject;

export interface SubjectGroup {
  readonly title: string;
  readonly subjects: readonly Subject[];
}

/** Each process imports what it measures and nothing else. */
export const GROUPS: readonly SubjectGroup[] = [
  {
    title: 'A direct payment',
    subjects: [
      bare('undici', 'a request of undici; no signature, nothing validated, nothing stored', async (setup) =>
        (await import('./bare-undici.js')).startBareUndici(setup),
      ),
      bare('node-http', 'the same by node:http with a keep-alive agent', async (setup) =>
        (await import('./bare-http.js')).startBareHttp(setup),
      ),
      {
        ...bare('stripe-node', 'paymentIntents.create of stripe-node, with its own HTTP client', async (setup) =>
          (await import('../peers/stripe-node.js')).startStripeNode(setup),
        ),
        beside: undefined,
      },
      bare('iyzipay', 'payment.create of iyzipay', async (setup) =>
        (await import('../peers/iyzipay.js')).startIyzipay(setup),
      ),
      bare('craftgate', 'createPayment of @craftgate/craftgate', async (setup) =>
        (await import('../peers/craftgate.js')).startCraftgate(setup),
      ),
      bare(
        'naive',
        'HttpService of @nestjs/axios, input validated by class-validator, signed; not stored',
        async (setup) => (await import('./naive-way.js')).startNaiveWay(setup),
      ),
      direct('memory', 'doPayment of this package, the store in memory'),
      direct('sqlite', 'the same on SQLite, a file, with the default settings (WAL, synchronous FULL)'),
      direct('postgres', 'the same on PostgreSQL (fsync on), in a process of its own'),
      direct('redis', 'the same on Redis (appendfsync always), in a process of its own'),
      { ...direct('memory', 'as memory, and an @OnPayment handler hears of each'), ...withHandler('memory') },
      { ...direct('sqlite', 'as sqlite, and an @OnPayment handler hears of each'), ...withHandler('sqlite') },
    ],
  },
  {
    title: 'A callback',
    subjects: [
      {
        name: 'bare-route',
        does: 'a route of Fastify alone: parses the form, calls Auth3d by undici, redirects; checks and stores nothing',
        measures: 'callbacks',
        start: async (setup) => (await import('../peers/bare-fastify.js')).startBareFastify(setup),
      },
      callbacks('memory'),
      callbacks('sqlite'),
      callbacks('postgres'),
      callbacks('redis'),
    ],
  },
  {
    title: 'init3d with a page of 64 KiB',
    subjects: [
      { ...direct('memory', 'doPayment, to put init3d in relation to'), name: 'beside-init3d', beside: undefined },
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
    subjects: [host(20), { ...host(2_000), beside: 'host-20' }],
  },
];

function bare(name: string, does: string, start: CallSubject['start']): CallSubject {
  return { name, does, beside: 'stripe-node', measures: 'calls', start };
}

function direct(store: StoreKind, does: string): CallSubject {
  return {
    name: store,
    does,
    beside: 'stripe-node',
    store,
    measures: 'calls',
    start: async (setup) => (await import('./this-package.js')).startDirect(setup),
  };
}

function withHandler(store: StoreKind): Pick<CallSubject, 'name' | 'start'> {
  return {
    name: `${store}-handler`,
    start: async (setup) => (await import('./this-package.js')).startDirect(setup, { handler: true }),
  };
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

function host(dtoClasses: number): CallSubject {
  return {
    name: `host-${dtoClasses}`,
    does: `doPayment in memory in a host with ${dtoClasses} validated classes`,
    store: 'memory',
    measures: 'calls',
    start: async (setup) => (await import('./this-package.js')).startDirect(setup, { dtoClasses }),
  };
}

export const SUBJECTS: readonly Subject[] = GROUPS.flatMap(({ subjects }) => subjects);

export function subjectNamed(name: string): Subject {
  const subject = SUBJECTS.find((other) => other.name === name);
  if (!subject) throw new Error(`There is no subject ${name}.`);
  return subject;
}

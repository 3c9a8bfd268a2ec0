import type { CallbackServer, Caller, SubjectSetup } from './caller.js';

export type StoreKind = 'memory' | 'sqlite' | 'postgres' | 'mariadb';

interface AnySubject {
  readonly name: string;
  /** The baseline: the subject of its group that it is compared with; absent for the baseline itself. */
  readonly beside?: string;
  /** The store of a subject that is this package. */
  readonly store?: StoreKind;
  /** The most that its CPU may be in relation to the baseline's, at {@link GOAL_AT_ONCE}. */
  readonly goal?: number;
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

export const GOAL_AT_ONCE = 64;

/** Each process imports what it measures and nothing else. docs/internals/performance.md says what each does. */
export const GROUPS: readonly SubjectGroup[] = [
  {
    title: 'A direct payment',
    subjects: [
      {
        name: 'stripe-node',
        measures: 'calls',
        start: async (setup) => (await import('../peers/stripe-node.js')).startStripeNode(setup),
      },
      {
        name: 'naive',
        beside: 'stripe-node',
        measures: 'calls',
        start: async (setup) => (await import('./naive-way.js')).startNaiveWay(setup),
      },
      direct('memory', { goal: 2.3 }),
      direct('sqlite', { goal: 3.9 }),
      direct('postgres'),
      direct('mariadb'),
      direct('sqlite', { handler: true }),
    ],
  },
  {
    title: 'A callback',
    subjects: [
      {
        name: 'bare-route',
        measures: 'callbacks',
        start: async (setup) => (await import('../peers/bare-fastify.js')).startBareFastify(setup),
      },
      callbacks('memory', 2.5),
      callbacks('sqlite', 2.5),
      callbacks('postgres'),
      callbacks('mariadb'),
    ],
  },
];

function direct(store: StoreKind, { goal, handler = false }: { goal?: number; handler?: boolean } = {}): CallSubject {
  return {
    name: handler ? `${store}-handler` : store,
    beside: 'stripe-node',
    store,
    goal,
    measures: 'calls',
    start: async (setup) => (await import('./this-package.js')).startDirect(setup, { handler }),
  };
}

function callbacks(store: StoreKind, goal?: number): CallbackSubject {
  return {
    name: `callback-${store}`,
    beside: 'bare-route',
    store,
    goal,
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

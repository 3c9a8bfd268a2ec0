/** The contract suite first, which takes milliseconds. */
const MEMORY = ['store/memory/memory-payment-store', 'store/memory/'];
/** The contract suite, each on its store. */
const SQLITE = ['store/sql/engines/sqlite/sqlite-payment-store'];
const SQLITE_DATABASE = ['store/sql/engines/sqlite/sqlite.engine', 'store/sql/engines.spec', 'store/sql/errors'];
const SQLITE_PURGE = [...SQLITE, 'store/sql/engines/sqlite/sqlite-purge'];
const POSTGRES = ['mutation/contracts/postgres.ts'];

/**
 * The code on which money and secrets depend, part by part, and the fast tests that must notice each change of a file:
 * the beginnings of their paths below `test`.
 *
 * @type {readonly { name: string, files: Readonly<Record<string, readonly string[]>> }[]}
 */
export const TARGETS = [
  {
    name: 'states',
    files: { 'lib/payment/transitions.ts': ['payment/transitions', 'flows/settling/settlement'] },
  },
  {
    name: 'settlement',
    files: {
      'lib/flows/settling/settlement.ts': ['flows/settling/settlement'],
      'lib/flows/settling/result-changes.ts': ['flows/settling/result-changes'],
      'lib/payment/amount.ts': ['payment/amount'],
    },
  },
  {
    name: 'replies',
    files: {
      'lib/gateway/readings/facts.ts': ['gateway/readings/facts'],
      'lib/gateway/readings/outcomes.ts': ['gateway/readings/charge-answers', 'gateway/readings/inquiry-answers'],
      'lib/gateway/readings/reply-fields.ts': ['gateway/readings/reply-fields'],
      'lib/gateway/readings/verdicts.ts': [
        'gateway/readings/verdicts',
        'gateway/readings/charge-answers',
        'gateway/readings/pages',
        'gateway/readings/inquiry-answers',
      ],
    },
  },
  {
    name: 'sign',
    files: { 'lib/gateway/dialects/morpos.dialect.ts': ['gateway/dialects/', 'gateway/readings/inquiry-answers'] },
  },
  {
    name: 'masking',
    files: {
      'lib/gateway/kept-result.ts': ['gateway/kept-result'],
      'lib/payment/hidden.ts': ['payment/hidden'],
      'lib/payment/kept-text.ts': ['payment/kept-text'],
      'lib/payment/thrown.ts': ['payment/thrown'],
    },
  },
  {
    name: 'callback',
    files: {
      'lib/callback/callback-request.ts': ['callback/callback-request'],
      'lib/callback/callback-receiver.ts': ['callback/callback-receiver', 'callback/payment-callback.guard'],
      'lib/callback/callback-responder.ts': ['callback/callback-responder'],
      'lib/callback/callback.controller.ts': ['callback/callback.controller'],
      'lib/callback/payment-callback.guard.ts': ['callback/payment-callback.guard'],
      'lib/payment/bank-page-headers.ts': ['e2e/checkout'],
      'lib/gateway/callback/callback-fields.ts': ['gateway/callback/callback-fields'],
      'lib/flows/callback-token.ts': ['flows/callback-token'],
    },
  },
  {
    name: 'health',
    files: {
      'lib/health/payment-health.ts': ['health/'],
      'lib/health/payment-health.indicator.ts': ['health/payment-health.indicator'],
    },
  },
  {
    name: 'outbox',
    files: {
      'lib/outbox/caller-waits.ts': ['outbox/caller-waits', 'outbox/event-dispatcher'],
      'lib/outbox/delivery-failures.ts': ['outbox/event-dispatcher', 'outbox/handler-call'],
      'lib/outbox/event-dispatcher.ts': ['outbox/event-dispatcher', 'health/payment-health.spec'],
      'lib/outbox/handler-call.ts': ['outbox/handler-call', 'outbox/event-dispatcher'],
      'lib/outbox/handler-finder.ts': ['outbox/handler-finder'],
      'lib/outbox/handler-worker.ts': ['outbox/event-dispatcher', 'health/payment-health.spec'],
      'lib/outbox/on-payment.decorator.ts': ['outbox/on-payment.decorator', 'outbox/handler-finder'],
      'lib/outbox/plain-events.ts': ['outbox/plain-events'],
    },
  },
  {
    name: 'flows',
    files: {
      'lib/flows/settling/claim.ts': ['flows/settling/claim', 'flows/three-d-flow'],
      'lib/flows/settling/fences.ts': ['flows/settling/fences'],
      'lib/flows/new-payment.ts': ['flows/new-payment'],
      'lib/flows/return-urls.ts': ['flows/return-urls'],
      'lib/flows/background/due-payments.ts': ['flows/background/due-payments'],
      'lib/process/in-flight.ts': ['process/in-flight'],
      'lib/process/loop-turn.ts': ['process/loop-turn'],
      'lib/flows/payment-reader.ts': ['flows/payment-reader'],
      'lib/flows/settling/payment-log.ts': ['flows/settling/payment-log'],
      'lib/flows/direct-flow.ts': ['flows/direct-flow', 'flows/operation-spans'],
      'lib/flows/three-d-flow.ts': ['flows/three-d-flow', 'flows/operation-spans'],
      'lib/flows/inquiry-flow.ts': ['flows/inquiry-flow', 'flows/operation-spans'],
      'lib/flows/background/inquiry-queue.ts': ['flows/background/reconciler'],
      'lib/flows/operator-flow.ts': ['flows/operator-flow'],
      'lib/flows/settling/payment-writer.ts': ['flows/settling/payment-writer', 'flows/settling/fences'],
      'lib/flows/settling/payment-changes.ts': [
        'flows/settling/payment-changes',
        'flows/settling/payment-writer',
        'flows/settling/fences',
      ],
      'lib/flows/settling/owed-writes.ts': ['flows/settling/owed-writes'],
      'lib/flows/background/side-by-side.ts': ['flows/background/side-by-side'],
      'lib/flows/background/reconciler.ts': ['flows/background/reconciler'],
      'lib/process/store-clock.ts': ['process/store-clock'],
      'lib/store/store-call.ts': ['flows/payment-reader', 'flows/operator-flow'],
      'lib/flows/receive-input.ts': ['flows/direct-flow', 'flows/three-d-flow'],
      'lib/start-up-report.ts': ['e2e/start-up-log'],
    },
  },
  {
    name: 'sample',
    files: {
      'sample/src/orders/order.repository.ts': ['sample/order', 'sample/outcome'],
      'sample/src/orders/order-payments.ts': ['sample/order', 'sample/outcome'],
      'sample/src/orders/orders.controller.ts': ['sample/order', 'sample/outcome'],
      'sample/src/orders/outcome.ts': ['sample/order', 'sample/outcome'],
      'sample/src/orders/shop-database.ts': ['sample/order', 'sample/outcome'],
    },
  },
  {
    name: 'stores',
    files: {
      'lib/store/memory/memory-payment-store.ts': MEMORY,
      'lib/store/record-json.ts': ['store/record-json'],
      'lib/store/unique-names.ts': ['store/unique-names', ...SQLITE],
      'lib/store/store-url.ts': ['store/store-url', 'store/open-store'],
    },
  },
  {
    name: 'stores-sqlite',
    files: {
      'lib/store/sql/database.ts': ['store/sql/database', ...SQLITE_DATABASE, ...SQLITE],
      'lib/store/sql/engines/sqlite.ts': [...SQLITE_DATABASE, ...SQLITE],
      'lib/store/sql/ledger.ts': SQLITE,
      'lib/store/sql/outbox.ts': SQLITE_PURGE,
      'lib/store/sql/purge.ts': SQLITE_PURGE,
      'lib/store/sql/shared-commit.ts': ['store/sql/shared-commit'],
      'lib/store/sql/sql-payment-store.ts': [
        'store/sql/schema',
        ...SQLITE_PURGE,
        'store/sql/engines/sqlite/sqlite.engine',
      ],
      'lib/store/sql/tables.ts': SQLITE,
    },
  },
  {
    name: 'stores-postgres',
    files: {
      'lib/store/sql/errors.ts': ['store/sql/errors'],
      'lib/store/sql/engines/postgres.ts': [
        ...POSTGRES,
        'store/sql/engines.spec',
        'store/sql/engines/postgres/postgres.engine',
        'store/sql/engines/postgres/postgres-pool',
        'store/sql/engines/row-locks',
        'store/store-url',
      ],
    },
  },
];

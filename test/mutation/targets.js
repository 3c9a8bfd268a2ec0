/** The contract suite first, which takes milliseconds. */
const MEMORY = ['store/memory/memory-payment-store', 'store/memory/'];
/** The contract suite, each on its store. */
const SQLITE = ['store/sql/sqlite-payment-store', 'store/sql/two-accounts'];
const SQLITE_DATABASE = [
  'store/sql/sql-database',
  'store/sql/sqlite.engine',
  'store/sql/engines',
  'store/sql/two-accounts',
];
const SQLITE_LEASES = [...SQLITE, 'store/sql/sqlite-lease-deliveries'];
const SQLITE_PURGE = [...SQLITE, 'store/sql/sqlite-purge'];
const POSTGRES = ['mutation/contracts/postgres.ts'];
const REDIS = ['mutation/contracts/redis.ts', 'store/redis/redis-payment-store', 'store/redis/script-calls'];

/**
 * The code that money and secrets hang on, part by part, and the fast tests that must notice each change of a file: the
 * beginnings of their paths below `test`, or `lua` for scripts of Redis (lua.js).
 *
 * @type {readonly { name: string, files: Readonly<Record<string, readonly string[] | 'lua'>> }[]}
 */
export const TARGETS = [
  {
    name: 'states',
    files: { 'lib/payment/states.ts': ['payment/states', 'flows/settlement'] },
  },
  {
    name: 'settlement',
    files: {
      'lib/flows/settlement.ts': ['flows/settlement'],
      'lib/flows/result-changes.ts': ['flows/result-changes'],
      'lib/payment/amount.ts': ['payment/amount'],
    },
  },
  {
    name: 'replies',
    files: {
      'lib/gateway/readings/charge-outcome.ts': ['gateway/readings/charge-outcome'],
      'lib/gateway/readings/init3d-outcome.ts': ['gateway/readings/init3d-outcome'],
      'lib/gateway/readings/inquiry-outcome.ts': ['gateway/readings/inquiry-outcome'],
      'lib/gateway/readings/reply-fields.ts': ['gateway/readings/reply-fields'],
      'lib/gateway/readings/result-checks.ts': ['gateway/readings/result-checks', 'gateway/readings/charge-outcome'],
    },
  },
  {
    name: 'sign',
    files: { 'lib/gateway/dialects/morpos.dialect.ts': ['gateway/dialects/', 'gateway/readings/inquiry-outcome'] },
  },
  {
    name: 'masking',
    files: {
      'lib/payment/card-mask.ts': ['payment/card-mask', 'payment/plain-text'],
      'lib/payment/decodings.ts': ['payment/decodings', 'payment/card-mask', 'payment/plain-text'],
      'lib/payment/digit-runs.ts': ['payment/digit-runs', 'payment/plain-text'],
      'lib/payment/hidden.ts': ['payment/hidden'],
      'lib/payment/plain-text.ts': ['payment/plain-text'],
    },
  },
  {
    name: 'redaction',
    files: { 'lib/gateway/redaction.ts': ['gateway/redaction'] },
  },
  {
    name: 'callback',
    files: {
      'lib/callback/callback-request.ts': ['callback/callback-request'],
      'lib/callback/callback-receiver.ts': ['callback/callback-receiver', 'callback/payment-callback.guard'],
      'lib/callback/callback-responder.ts': ['callback/callback-responder'],
      'lib/callback/callback.controller.ts': ['callback/callback.controller'],
      'lib/callback/payment-callback.guard.ts': ['callback/payment-callback.guard'],
      'lib/callback/received-callback.ts': ['callback/payment-callback.guard'],
      'lib/callback/refusal-log.ts': ['callback/refusal-log', 'callback/callback-responder'],
      'lib/callback/result-page.ts': ['callback/result-page'],
      'lib/payment/bank-page-headers.ts': ['e2e/checkout'],
      'lib/flows/callback-check.ts': ['flows/callback-check'],
      'lib/flows/callback-fields.ts': ['flows/callback-fields'],
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
      'lib/events/caller-waits.ts': ['events/caller-waits', 'events/event-dispatcher'],
      'lib/events/delivery-failures.ts': ['events/event-dispatcher', 'events/handler-call'],
      'lib/events/event-dispatcher.ts': ['events/event-dispatcher', 'health/payment-health.spec'],
      'lib/events/handler-call.ts': ['events/handler-call', 'events/event-dispatcher'],
      'lib/events/handler-finder.ts': ['events/handler-finder'],
      'lib/events/handler-worker.ts': ['events/event-dispatcher', 'health/payment-health.spec'],
      'lib/events/on-payment.decorator.ts': ['events/on-payment.decorator', 'events/handler-finder'],
      'lib/events/plain-events.ts': ['events/plain-events'],
    },
  },
  {
    name: 'flows',
    files: {
      'lib/flows/schedule.ts': ['flows/schedule'],
      'lib/flows/claim.ts': ['flows/claim', 'flows/three-d-flow'],
      'lib/flows/fences.ts': ['flows/fences'],
      'lib/flows/new-payment.ts': ['flows/new-payment'],
      'lib/flows/return-urls.ts': ['flows/return-urls'],
      'lib/flows/local-url.ts': ['flows/local-url'],
      'lib/flows/due-payments.ts': ['flows/due-payments'],
      'lib/flows/in-flight.ts': ['flows/in-flight'],
      'lib/flows/in-flight-limit.ts': ['flows/in-flight'],
      'lib/flows/loop-turn.ts': ['flows/loop-turn'],
      'lib/flows/payment-reader.ts': ['flows/payment-reader'],
      'lib/flows/payment-log.ts': ['flows/payment-log'],
      'lib/flows/direct-flow.ts': ['flows/direct-flow', 'flows/operation-spans'],
      'lib/flows/three-d-flow.ts': ['flows/three-d-flow', 'flows/operation-spans'],
      'lib/flows/inquiry-flow.ts': ['flows/inquiry-flow', 'flows/operation-spans'],
      'lib/flows/inquiry-queue.ts': ['flows/reconciler'],
      'lib/flows/operator-flow.ts': ['flows/operator-flow'],
      'lib/flows/payment-writer.ts': ['flows/payment-writer', 'flows/fences'],
      'lib/flows/payment-changes.ts': ['flows/payment-changes', 'flows/payment-writer', 'flows/fences'],
      'lib/flows/owed-writes.ts': ['flows/owed-writes'],
      'lib/flows/process-hold.ts': ['flows/process-hold'],
      'lib/flows/side-by-side.ts': ['flows/side-by-side'],
      'lib/flows/reconciler.ts': ['flows/reconciler'],
      'lib/flows/store-clock.ts': ['flows/store-clock'],
      'lib/flows/store-call.ts': ['flows/payment-reader', 'flows/operator-flow'],
      'lib/flows/receive-input.ts': ['flows/direct-flow', 'flows/three-d-flow'],
      'lib/flows/start-up-report.ts': ['e2e/start-up-log'],
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
      'lib/store/memory/account-deliveries.ts': MEMORY,
      'lib/store/memory/account-payments.ts': MEMORY,
      'lib/store/memory/by-date.ts': MEMORY,
      'lib/store/memory/due-queue.ts': MEMORY,
      'lib/store/memory/handler-deliveries.ts': MEMORY,
      'lib/store/memory/memory-payment-store.ts': MEMORY,
      'lib/store/memory/purged-keys.ts': MEMORY,
      'lib/store/record-json.ts': ['store/record-json'],
      'lib/store/store-url.ts': ['store/store-url', 'store/open-store'],
    },
  },
  {
    name: 'stores-sqlite',
    files: {
      'lib/store/sql/compiled-queries.ts': ['store/sql/compiled-queries'],
      'lib/store/sql/counts.ts': SQLITE,
      'lib/store/sql/deliveries.ts': SQLITE_LEASES,
      'lib/store/sql/due-deliveries.ts': SQLITE_LEASES,
      'lib/store/sql/handler-pairs.ts': ['store/sql/handler-pairs', ...SQLITE_PURGE],
      'lib/store/sql/key-hash.ts': ['store/sql/key-hash'],
      'lib/store/sql/payment-leases.ts': SQLITE,
      'lib/store/sql/payment-queries.ts': SQLITE,
      'lib/store/sql/payment-tables.ts': SQLITE,
      'lib/store/sql/payment-writes.ts': SQLITE,
      'lib/store/sql/purge.ts': SQLITE_PURGE,
      'lib/store/sql/retry-while-busy.ts': ['store/sql/retry-while-busy', 'store/sql/sql-database'],
      'lib/store/sql/sql-database.ts': [...SQLITE_DATABASE, ...SQLITE],
      'lib/store/sql/sql-payment-store.ts': [
        'store/sql/sql-payment-store.spec',
        ...SQLITE_PURGE,
        'store/sql/sqlite.engine',
      ],
      'lib/store/sql/sqlite.engine.ts': SQLITE_DATABASE,
      'lib/store/sql/sqlite-access.ts': [...SQLITE_DATABASE, ...SQLITE],
      'lib/store/sql/steps.ts': SQLITE_DATABASE,
      'lib/store/sql/store-time.ts': ['store/sql/store-time'],
      'lib/store/sql/taken-key.ts': ['store/sql/taken-key', ...SQLITE],
      'lib/store/sql/writes-in-transaction.ts': SQLITE_LEASES,
    },
  },
  {
    name: 'stores-postgres',
    files: {
      'lib/store/sql/driver-errors.ts': ['store/sql/driver-errors'],
      'lib/store/sql/group-commit.ts': ['store/sql/group-commit.spec', 'store/sql/group-commit.'],
      'lib/store/sql/lease-deliveries.ts': ['store/sql/lease-deliveries'],
      'lib/store/sql/postgres.engine.ts': ['store/sql/engines', 'store/sql/postgres.engine', 'store/sql/row-locks'],
      'lib/store/sql/postgres-access.ts': ['store/sql/postgres-access', 'store/sql/round-trips'],
      'lib/store/sql/writes-in-one-statement.ts': [
        ...POSTGRES,
        'store/sql/lease-deliveries',
        'store/sql/round-trips',
        'store/sql/row-locks',
        'store/sql/writes-in-one-statement',
      ],
    },
  },
  {
    name: 'stores-redis',
    files: {
      'lib/store/redis/redis-payment-store.ts': REDIS,
      'lib/store/redis/script.ts': ['store/redis/script-calls', 'store/redis/redis-payment-store'],
      'lib/store/redis/script-values.ts': REDIS,
      'lib/store/redis/scripts/counts.ts': 'lua',
      'lib/store/redis/scripts/deliveries.ts': 'lua',
      'lib/store/redis/scripts/library.ts': 'lua',
      'lib/store/redis/scripts/payments.ts': 'lua',
      'lib/store/redis/scripts/purge.ts': 'lua',
    },
  },
];

/** The contract suite first, which takes milliseconds. */
const MEMORY = ['store/memory/memory-payment-store', 'store/memory/'];
/** The contract suite, each on its store. */
const SQLITE = ['store/sql/engines/sqlite/sqlite-payment-store'];
const SQLITE_DATABASE = ['store/sql/engines/sqlite/sqlite.engine', 'store/sql/engines.spec', 'store/sql/errors'];
const SQLITE_PURGE = [...SQLITE, 'store/sql/engines/sqlite/sqlite-purge'];

/**
 * The code on which money and secrets depend, part by part, and the fast tests that must notice each change of a file:
 * the beginnings of their paths below `test`.
 *
 * @type {readonly { name: string, files: Readonly<Record<string, readonly string[]>> }[]}
 */
export const TARGETS = [
  {
    name: 'states',
    files: {
      'lib/payment/transitions.ts': [
        'payment/transitions',
        'settlement/outcomes',
        'settlement/writer',
        'events/delivery',
      ],
    },
  },
  {
    name: 'settlement',
    files: {
      'lib/settlement/outcomes.ts': ['settlement/outcomes', 'mutation/scripts'],
      'lib/settlement/result-fields.ts': ['settlement/outcomes'],
      'lib/payment/amount.ts': ['payment/amount', 'payment/currency'],
    },
  },
  {
    name: 'replies',
    files: {
      'lib/gateway/readings/facts.ts': ['gateway/readings/facts', 'gateway/readings/answers', 'gateway/gateway-client'],
      'lib/gateway/readings/reply-fields.ts': ['gateway/readings/reply-fields'],
      'lib/gateway/readings/verdicts.ts': [
        'gateway/readings/answers',
        'gateway/readings/verdicts',
        'operations/resolution',
      ],
    },
  },
  {
    name: 'sign',
    files: { 'lib/gateway/dialects/morpos.dialect.ts': ['gateway/dialects/', 'gateway/readings/answers', 'wire/wire'] },
  },
  {
    name: 'masking',
    files: {
      'lib/gateway/kept-result.ts': ['gateway/kept-result'],
      'lib/runtime/hidden.ts': ['runtime/hidden'],
      'lib/payment/kept-text.ts': ['payment/kept-text'],
    },
  },
  {
    name: 'callback',
    files: {
      'lib/http/callback.controller.ts': ['http/callback-request', 'http/payment-callback.guard', 'e2e/host'],
      'lib/http/callback-receiver.ts': ['http/callback-receiver', 'http/payment-callback.guard'],
      'lib/http/callback-responder.ts': ['http/callback-responder'],
      'lib/http/bank-page.ts': ['e2e/smallest-application'],
      'lib/gateway/callback/callback-fields.ts': ['gateway/callback/callback-fields'],
    },
  },
  {
    name: 'health',
    files: {
      'lib/health/payment-health.ts': ['health/', 'telemetry/telemetry'],
      'lib/health/payment-health.indicator.ts': ['health/payment-health.indicator', 'telemetry/telemetry'],
    },
  },
  {
    name: 'outbox',
    files: {
      'lib/events/event-dispatcher.ts': ['events/delivery', 'health/payment-health.spec'],
      'lib/events/handler-finder.ts': ['events/handler-finder'],
      'lib/events/handler-worker.ts': ['events/delivery', 'mutation/scripts'],
      'lib/runtime/coalesced-work.ts': ['runtime/coalesced-work'],
      'lib/events/on-payment.decorator.ts': ['events/handler-finder'],
      'lib/events/plain-events.ts': ['events/plain-events'],
    },
  },
  {
    name: 'operations',
    files: {
      'lib/settlement/writer.ts': ['settlement/writer', 'mutation/scripts', 'telemetry/telemetry'],
      'lib/settlement/in-flight.ts': [
        'settlement/in-flight',
        'overload/bound',
        'telemetry/telemetry',
        'recovery/shutdown',
      ],
      'lib/settlement/records.ts': ['settlement/records', 'mutation/scripts'],
      'lib/settlement/change-log.ts': ['settlement/change-log', 'mutation/scripts'],
      'lib/settlement/owed-writes.ts': ['settlement/owed-writes'],
      'lib/settlement/store-clock.ts': ['settlement/store-clock', 'settlement/claim', 'mutation/scripts'],
      'lib/operations/opening.ts': ['operations/opening', 'mutation/scripts', 'telemetry/telemetry'],
      'lib/operations/return-urls.ts': ['operations/return-urls'],
      'lib/operations/direct.ts': ['mutation/scripts', 'telemetry/telemetry'],
      'lib/operations/three-d.ts': ['mutation/scripts', 'operations/three-d', 'telemetry/telemetry'],
      'lib/operations/inquiry.ts': [
        'mutation/scripts',
        'operations/resolution',
        'e2e/hosted',
        'telemetry/telemetry',
        'desk/scripts',
      ],
      'lib/operations/resolution.ts': ['operations/resolution', 'mutation/scripts'],
      'lib/operations/refund.ts': ['mutation/scripts', 'operations/refund', 'e2e/refunds', 'e2e/foreign-answers'],
      'lib/reconciler/reconciler.ts': ['reconciler/reconciler', 'mutation/scripts', 'events/delivery'],
      'lib/reconciler/due-payments.ts': ['reconciler/', 'mutation/scripts'],
      'lib/runtime/clock.ts': ['runtime/clock', 'runtime/loop-turn'],
      'lib/store/store-call.ts': ['operations/resolution', 'mutation/scripts'],
      'lib/module/start-up-report.ts': ['e2e/start-up'],
    },
  },
  {
    name: 'sample',
    files: {
      'sample/src/orders/order.repository.ts': ['sample/order'],
      'sample/src/orders/order-payments.ts': ['sample/order'],
      'sample/src/orders/orders.controller.ts': ['sample/order'],
      'sample/src/orders/outcome.ts': ['sample/order'],
      'sample/src/orders/shop-database.ts': ['sample/order'],
    },
  },
  {
    name: 'stores',
    files: {
      'lib/store/memory/memory-payment-store.ts': MEMORY,
      'lib/store/record-json.ts': ['store/record-json'],
      'lib/store/unique-names.ts': ['store/unique-names', ...SQLITE],
      'lib/store/sql/errors.ts': ['store/sql/errors'],
      'lib/store/store-url.ts': ['store/store-url', 'store/open-store'],
    },
  },
  {
    name: 'stores-sqlite',
    files: {
      'lib/store/sql/database.ts': [...SQLITE_DATABASE, ...SQLITE],
      'lib/store/sql/retry.ts': ['store/sql/database', ...SQLITE],
      'lib/store/sql/statement.ts': SQLITE,
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
];

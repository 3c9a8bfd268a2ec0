/**
 * Why some changes go unnoticed, for the report: each change as the report writes it.
 *
 * @type {readonly { file: string, changes: readonly string[], reason: string }[]}
 */
export const SURVIVORS = [
  {
    file: 'lib/payment/amount.ts',
    changes: [`'' → "Stryker was here!"`],
    reason: 'Said for the types: what matches has a whole part.',
  },
  {
    file: 'lib/gateway/readings/charge-outcome.ts',
    changes: ['result?.code → result.code'],
    reason: 'A dialect of a host that reads nothing makes it throw, which is caught and comes to the same.',
  },
  {
    file: 'lib/gateway/readings/init3d-outcome.ts',
    changes: ['content === null → false'],
    reason: 'Said for the types: without content there is no HTML either, which is looked at beside it.',
  },
  {
    file: 'lib/gateway/readings/inquiry-outcome.ts',
    changes: [
      'fields && result?.code → true',
      'fields && result?.code → fields || result?.code',
      'result?.code → result.code',
    ],
    reason:
      'What has no code comes to nothing all the same: nothing in it approves or declines, and where there is nothing ' +
      'to read, the error is caught.',
  },
  {
    file: 'lib/gateway/readings/result-checks.ts',
    changes: [`'exact' → ""`],
    reason: 'Whatever is neither off nor notLess has amounts compared exactly.',
  },
  {
    file: 'lib/gateway/readings/reply-fields.ts',
    changes: [
      `typeof value === 'number' → true`,
      `typeof value === 'number' → typeof value !== 'number'`,
      'false → true',
    ],
    reason: 'Spares work: what holds no number is read once more, with the same result.',
  },
  {
    file: 'lib/gateway/readings/reply-fields.ts',
    changes: ['index < text.length → index <= text.length'],
    reason: 'Behind the text is nothing to count.',
  },
  {
    file: 'lib/gateway/readings/reply-fields.ts',
    changes: ['-1 → +1'],
    reason: 'What has a quote without its pair is no JSON, however many values are counted in it.',
  },
  {
    file: 'lib/gateway/dialects/morpos.dialect.ts',
    changes: [`'utf8' → ""`],
    reason: 'Node takes a text for UTF-8 where no encoding is named.',
  },
  {
    file: 'lib/gateway/dialects/morpos.dialect.ts',
    changes: [`'' → "Stryker was here!"`],
    reason: 'Said for the types: a path always has a first part. And any text but a status of success stands for none.',
  },
  {
    file: 'lib/callback/callback-responder.ts',
    changes: [`'not a URL' → ""`],
    reason: 'An error that is caught a line further down, where its text is not read.',
  },
  {
    file: 'lib/callback/payment-callback.guard.ts',
    changes: [`'nestjs-card-payment:received-callback' → ""`],
    reason: 'Any name of the symbol does as long as it is the same for writing and reading.',
  },
  {
    file: 'lib/callback/callback-responder.ts',
    changes: [
      `'<style>:root{color-scheme:light dark}' → ""`,
      `'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1.5rem;color:#… → ""`,
      `'h1{font-size:1.6rem}' → ""`,
      `'@media(prefers-color-scheme:dark){body{background:#12181f;color:#e6ebf0}}</style></head>' → ""`,
    ],
    reason:
      'How the page looks. That its colours can be read is tested in a browser (test/browser/accessibility.spec.ts).',
  },
  {
    file: 'lib/callback/callback-request.ts',
    changes: [`' ' → ""`],
    reason: 'Keeps four headers apart, of which each names its purpose by a word of its own.',
  },
  {
    file: 'lib/callback/callback-request.ts',
    changes: [`'' → "Stryker was here!"`, `'form' → ""`],
    reason: 'Any other text does as well: it is no type that is read, or no JSON.',
  },
  {
    file: 'lib/gateway/callback/callback-fields.ts',
    changes: ['value === null → false'],
    reason: 'Null counts as an object beside it.',
  },
  {
    file: 'lib/gateway/callback/callback-fields.ts',
    changes: ['[] → ["Stryker was here"]'],
    reason:
      'Said for the types: of what stands in for a missing field only the second part is read, and there is none.',
  },
  {
    file: 'lib/flows/callback-token.ts',
    changes: [`'utf8' → ""`],
    reason: 'Node takes a text for UTF-8 where no encoding is named.',
  },
  {
    file: 'lib/flows/return-urls.ts',
    changes: [`'' → "Stryker was here!"`],
    reason: 'Said for the types: where there is no URL, an error is thrown further down.',
  },
  {
    file: 'lib/outbox/handler-finder.ts',
    changes: [
      "wrapper.isAlias || typeof instance !== 'object' → false",
      "wrapper.isAlias || typeof instance !== 'object' → wrapper.isAlias && typeof instance !== 'object'",
      "typeof instance !== 'object' → false",
      '!prototype → false',
    ],
    reason:
      'Spares work: an alias has the instance that stands under a token of its own, and what is no object, or has no ' +
      'prototype, has no method that is marked.',
  },
  {
    file: 'lib/outbox/handler-finder.ts',
    changes: ["typeof method !== 'function' → false"],
    reason: 'Said for the types: Nest’s scanner names functions alone.',
  },
  {
    file: 'lib/outbox/event-dispatcher.ts',
    changes: ['false → true', '() => false → () => undefined'],
    reason: 'Set before it is looked at; and undefined counts as not over.',
  },
  {
    file: 'lib/outbox/event-dispatcher.ts',
    changes: [
      'this.isWakingSoon → false',
      'true → false',
      'this.workers.length > 0 → true',
      'this.workers.length > 0 → this.workers.length >= 0',
    ],
    reason: 'Spares the store looks that find nothing more: one at a time, and none by an instance without handlers.',
  },
  {
    file: 'lib/outbox/event-dispatcher.ts',
    changes: ['!this.isStarted → false'],
    reason:
      'Looked at in two places, of which either keeps a dispatcher that was not started from calling handlers. What a ' +
      'pass delivers, it looks for itself.',
  },
  {
    file: 'lib/outbox/handler-worker.ts',
    changes: ['false → true'],
    reason: 'Set by every look before it is read.',
  },
  {
    file: 'lib/outbox/handler-worker.ts',
    changes: ['deliveries.length === places → false', 'true → false'],
    reason:
      'Spares a wait of two seconds where what is leased again is still running here: a call that ends looks again.',
  },
  {
    file: 'lib/outbox/on-payment.decorator.ts',
    changes: [`'nestjs-card-payment:on-payment' → ""`],
    reason: 'Any key of the metadata does as long as it is the same for writing and reading.',
  },
  {
    file: 'lib/outbox/plain-events.ts',
    changes: [
      '!this.#discovery.getProviders().some(({ token }) => isEmitterClass(token)) → false',
      '{ this.emitter = null; } → {}',
      "typeof token !== 'function' → false",
      'false → true',
      "typeof prototype === 'object' && prototype !== null && 'emitAsync' in prototype → true",
      "typeof prototype === 'object' && prototype !== null && 'emitAsync' in prototype → typeof prototype === 'object' && prototype !== null || 'emitAsync' in prototype",
      "typeof prototype === 'object' && prototype !== null → true",
      "typeof prototype === 'object' && prototype !== null → typeof prototype === 'object' || prototype !== null",
      "typeof prototype === 'object' → true",
      'prototype !== null → true',
    ],
    reason:
      'Spares the start a package that is not used: where the host has no emitter, none is found after the package is ' +
      'loaded either, and there was none before.',
  },
  {
    file: 'lib/callback/callback-receiver.ts',
    changes: ['{ isOver: false } → {}'],
    reason: 'Said for the types: undefined counts as not over.',
  },
  {
    file: 'lib/callback/callback-responder.ts',
    changes: ["typeof given !== 'string' → false"],
    reason: 'The check of the URL throws for what is no text, which is caught in the same place.',
  },
  {
    file: 'lib/health/payment-health.indicator.ts',
    changes: [
      'limit !== undefined && value !== null → true',
      'limit !== undefined && value !== null → limit !== undefined || value !== null',
      'limit !== undefined → true',
      'value !== null → true',
    ],
    reason: 'Said for the types: nothing is greater than undefined, and null counts as 0, which is over no limit.',
  },
  {
    file: 'lib/health/payment-health.ts',
    changes: ['[] → ["Stryker was here"]'],
    reason: 'A text among the observations has no name, so that it is shown by no gauge.',
  },
  {
    file: 'lib/health/payment-health.ts',
    changes: ['report.maxInFlight !== null → true'],
    reason: 'Said for the types: OpenTelemetry drops a value that is no number.',
  },
  {
    file: 'lib/process/in-flight.ts',
    changes: [`'open' → ""`],
    reason: 'Whatever is neither starting, ending nor closed is open.',
  },
  {
    file: 'lib/process/in-flight.ts',
    changes: ['this.#release?.() → this.#release()'],
    reason: 'Said for the types: the process is held while anything runs.',
  },
  {
    file: 'lib/flows/inquiry-flow.ts',
    changes: ['() => false → () => undefined'],
    reason: 'Undefined counts as not known.',
  },
  {
    file: 'lib/store/sql/group-commit.ts',
    changes: ['this.waiting[0].since <= since → this.waiting[0].since < since'],
    reason: 'Differs at one moment alone, of which nothing is promised.',
  },
  {
    file: 'lib/store/sql/group-commit.ts',
    changes: ['this.waiting.shift()?.reject → this.waiting.shift().reject'],
    reason: 'Said for the types: the first of them has just been looked at.',
  },
  {
    file: 'lib/store/sql/group-commit.ts',
    changes: [
      '{ if (connection.inTransaction) connection.execute(RELEASE); } → {}',
      'connection.inTransaction → false',
    ],
    reason:
      'Spares memory: a savepoint that stays is hidden by the next of the same name, and ends with the transaction.',
  },
  {
    file: 'lib/store/sql/ledger-purge.ts',
    changes: [`'' → "Stryker was here!"`],
    reason: 'Looked at only among payments that ended in 1970.',
  },
  {
    file: 'lib/store/sql/ledger-purge.ts',
    changes: ['performance.now() >= this.end → performance.now() > this.end'],
    reason: 'Differs at one moment alone, of which nothing is promised.',
  },
  {
    file: 'lib/store/sql/ledger-purge.ts',
    changes: [`'card_payment_key' → ""`, `'card_payment' → ""`, `'card_payment_event' → ""`],
    reason:
      'Names the table for the lock of rows, which SQLite does not have; PostgreSQL refuses an empty name, which its contract suite notices.',
  },
  {
    file: 'lib/store/sql/ledger-purge.ts',
    changes: ['keys.length === 0 → false', 'ids.length === 0 → false'],
    reason: 'Spares statements that would touch no row.',
  },
  {
    file: 'lib/store/sql/ledger-purge.ts',
    changes: [
      '!last || settled.length < PAYMENTS_BATCH → !last && settled.length < PAYMENTS_BATCH',
      'settled.length < PAYMENTS_BATCH → false',
    ],
    reason: 'Costs one look more, which finds nothing: the next place is behind the last payment.',
  },
  {
    file: 'lib/store/sql/ledger-purge.ts',
    changes: ['(event) => !lockedIds.has(event.event_id) → () => undefined'],
    reason:
      'On SQLite nothing writes beside a purge, so that no event is locked by others. On PostgreSQL, a test of row locks notices.',
  },
  {
    file: 'lib/flows/settling/owed-writes.ts',
    changes: [`'owed' → ""`],
    reason: 'The log has lines of one kind alone, so that any name of it does.',
  },
  {
    file: 'lib/flows/settling/owed-writes.ts',
    changes: ['() => null → () => undefined'],
    reason: 'Either stands for a write that failed.',
  },
  {
    file: 'lib/flows/background/reconciler.ts',
    changes: [
      `'succeeded' → ""`,
      `'failed' → ""`,
      `'expired' → ""`,
      `'review' → ""`,
      `case 'review': return; → case 'review':`,
    ],
    reason: 'Said for the types: nothing is done either way, and what is settled is never due.',
  },
  {
    file: 'lib/flows/background/reconciler.ts',
    changes: ['EVERY_MS * (0.75 + 0.5 * this.random.fraction()) → EVERY_MS / (0.75 + 0.5 * this.random.fraction())'],
    reason: 'Spreads the passes around two seconds as well.',
  },
  {
    file: 'lib/flows/background/reconciler.ts',
    changes: ['dueAt → true'],
    reason: 'Said for the types: without a time until which it is left alone, the queue leaves it to others at once.',
  },
  {
    file: 'lib/flows/background/reconciler.ts',
    changes: ['now < this.renewAt → now <= this.renewAt'],
    reason: 'At that very millisecond; either way a pass follows within seconds.',
  },
  {
    file: 'lib/process/store-clock.ts',
    changes: ['() => null → () => undefined'],
    reason: 'Either stands for a store that did not say the time.',
  },
  {
    file: 'lib/process/store-clock.ts',
    changes: [
      'roundTrip > MAX_ROUND_TRIP_MS → roundTrip >= MAX_ROUND_TRIP_MS',
      'theirs <= this.now() → theirs < this.now()',
    ],
    reason: 'At that very millisecond, where either reading of the answer is as good as the other.',
  },
  {
    file: 'lib/process/store-clock.ts',
    changes: ['this.offset > 0 → this.offset >= 0'],
    reason: 'A host that is not off is not reported.',
  },
  {
    file: 'lib/start-up-report.ts',
    changes: ['wrapper.metatype?.name → wrapper.metatype.name', `'a guard of a request' → ""`],
    reason: 'Said for the types: a guard that is made for each request is a class or a factory.',
  },
  {
    file: 'lib/flows/operator-flow.ts',
    changes: ['claimedAt → true'],
    reason: 'Spares a question: where no claim is looked at, the time is not either.',
  },
  {
    file: 'lib/flows/direct-flow.ts',
    changes: ['tries < MAX_OPENING_TRIES → tries <= MAX_OPENING_TRIES'],
    reason: 'One try more at an opening that another payment keeps from being written. Nothing is sent either way.',
  },
  {
    file: 'lib/flows/three-d-flow.ts',
    changes: ['traceparent === null → false'],
    reason: 'A traceparent that is null counts as none wherever it is read.',
  },
  {
    file: 'lib/flows/three-d-flow.ts',
    changes: ["outcome.state !== 'unknown' → false"],
    reason:
      'Only where the gateway cannot be asked is an unbound approval anything else than unknown, and then the question ' +
      'has no answer and the outcome is written as it is.',
  },
  {
    file: 'lib/flows/three-d-flow.ts',
    changes: ['record.reference === null → false'],
    reason: 'Spares a look: no payments are found by a reference that is null.',
  },
  {
    file: 'lib/flows/three-d-flow.ts',
    changes: ["ended.outcome === 'replaced' → false", '\'replaced\' → ""'],
    reason: 'Spares a look: what is found in the store is the record that was just written.',
  },
  {
    file: 'lib/flows/three-d-flow.ts',
    changes: ['!inquired || !authorized → false', '!inquired || !authorized → !inquired && !authorized'],
    reason: 'Said for the types: an answer that confirms or contradicts, and one that approves, has been read.',
  },
  {
    file: 'lib/flows/settling/payment-writer.ts',
    changes: ['() => null → () => undefined'],
    reason: 'Either stands for a write that is not confirmed.',
  },
  {
    file: 'sample/src/orders/order-payments.ts',
    changes: [`'OrderPayments.paid' → ""`],
    reason: 'Any text does as the name of the handler, as long as it stays the same.',
  },
  {
    file: 'sample/src/orders/order-payments.ts',
    changes: ['reference === null → false', "state === 'failed' → true"],
    reason:
      'Without them the outcome is the same: no order has the id null, and no other state has the reason reference_taken.',
  },
  {
    file: 'lib/store/memory/account-outbox.ts',
    changes: [
      'backlogs[place]?.next → backlogs[place].next',
      'this.pairs.get(type)?.get → this.pairs.get(type).get',
      'announcedAt !== undefined → true',
      'this.pairs.get(event.type)?.keys → this.pairs.get(event.type).keys',
    ],
    reason:
      'Said for the types: the turn is always one of a backlog, only events of known types are fanned out, and a ' +
      'delivery is deleted with its pair.',
  },
  {
    file: 'lib/store/memory/account-outbox.ts',
    changes: ['[] → ["Stryker was here"]'],
    reason: 'Stands for no handler where there always is one, and for no type: no event waits of it.',
  },
  {
    file: 'lib/store/memory/due-queue.ts',
    changes: ['one.order < other.order → one.order <= other.order'],
    reason: 'No two entries have the same order, and none is compared with itself.',
  },
  {
    file: 'lib/store/memory/account-ledger.ts',
    changes: ['oldest !== undefined → true'],
    reason: 'Said for the types: where there are too many, there is an oldest.',
  },
  {
    file: 'lib/store/memory/account-ledger.ts',
    changes: [`'utf8' → ""`, `'base64url' → ""`],
    reason: 'Node takes a text for UTF-8 where no encoding is named, and any form of the hash does.',
  },
  {
    file: 'lib/store/memory/handler-deliveries.ts',
    changes: ['queue.size > 0 → true', 'queue.size > 0 → queue.size >= 0'],
    reason: 'Spares work: every payment is looked at where the queues would do, and the same is found.',
  },
  {
    file: 'lib/store/memory/handler-deliveries.ts',
    changes: [`'' → "Stryker was here!"`],
    reason: 'Stands for no payment: there is none of that id.',
  },
  {
    file: 'lib/store/memory/account-ledger.ts',
    changes: [`'' → "Stryker was here!"`, '[] → ["Stryker was here"]'],
    reason: 'Stands for no payment: there is none of that id.',
  },
  {
    file: 'lib/store/memory/account-ledger.ts',
    changes: ["typeof hostIdNonce === 'string' → true"],
    reason:
      'An id that the module made is random, and no host has chosen it before. Were it so, the store may say either ' +
      '(PaymentStore.insert).',
  },
  {
    file: 'lib/store/memory/account-ledger.ts',
    changes: [
      'record[key] === null → false',
      'record[key] !== null → true',
      'pinned !== null → true',
      'record.referenceLock !== null → true',
      'value === null || value === now[key] → value === null && value === now[key]',
      'value === null → false',
      'reference === null → false',
    ],
    reason: 'Null is looked at where keys are written and where they are read, of which either would do.',
  },
  {
    file: 'lib/store/memory/account-ledger.ts',
    changes: [
      'value === null || value === now[key] → false',
      'value === now[key] → false',
      '{ idempotencyKey: null, tokenHash: null, referenceLock: record.referenceLock } → {}',
    ],
    reason: 'Spares work: a key that stays is released and taken again before anyone can come between.',
  },
  {
    file: 'lib/store/memory/account-ledger.ts',
    changes: ['next === undefined → false'],
    reason: 'Spares work: nothing is taken again and again, up to the limit, and stands for no payment.',
  },
  {
    file: 'lib/store/memory/account-ledger.ts',
    changes: ['record.updatedAt < oldest → record.updatedAt <= oldest'],
    reason: 'Of two dates that are the same, either is shown.',
  },
  {
    file: 'lib/store/memory/account-ledger.ts',
    changes: ['!payment → false', 'this.payments.get(id)?.record → this.payments.get(id).record'],
    reason: 'Said for the types: the ids are those of payments that are there.',
  },
  {
    file: 'lib/store/sql/sql-ledger.ts',
    changes: [`'' → "Stryker was here!"`],
    reason: 'Stands for no payment and no key: no id and no hash is equal to either text.',
  },
  {
    file: 'lib/store/sql/sql-ledger.ts',
    changes: [`'taken keys' → ""`],
    reason: 'Any name of a compiled query does, as long as no other has it.',
  },
  {
    file: 'lib/store/sql/sql-ledger.ts',
    changes: [`'payment by key' → ""`, `'payments of reference' → ""`],
    reason: 'Any name of a compiled query does, as long as no other has it.',
  },
  {
    file: 'lib/store/sql/sql-ledger.ts',
    changes: [`'card_payment' → ""`],
    reason: 'SQLite locks no rows. PostgreSQL refuses the statement, and its contract suite fails.',
  },
  {
    file: 'lib/store/sql/sql-ledger.ts',
    changes: ['rows.length === 0 → false'],
    reason:
      'Spares SQLite a statement that changes nothing. PostgreSQL refuses an empty list, and its contract suite fails.',
  },
  {
    file: 'lib/store/sql/sql-outbox.ts',
    changes: [
      'parked && numAffectedRows !== 0n → true',
      'parked && numAffectedRows !== 0n → parked || numAffectedRows !== 0n',
      'numAffectedRows !== 0n → true',
    ],
    reason: 'Spares work: what still waits is made due, looked at, and put off again.',
  },
  {
    file: 'lib/store/sql/deliveries.ts',
    changes: ['row.error === null → false'],
    reason: 'Null is read as JSON, which gives null.',
  },
  {
    file: 'lib/store/sql/deliveries.ts',
    changes: [`'' → "Stryker was here!"`],
    reason: 'Said for the types: nothing is asked without a type.',
  },
  {
    file: 'lib/store/sql/deliveries.ts',
    changes: [`'delivery' → ""`],
    reason: 'SQLite locks no rows. PostgreSQL refuses the statement, and its contract suite fails.',
  },
  {
    file: 'lib/store/sql/deliveries.ts',
    changes: [`'until' → ""`],
    reason: 'The name of the one column of a subquery, which is read under the name of the subquery.',
  },
  {
    file: 'lib/store/sql/ledger-writes.ts',
    changes: [
      `'insert payment' → ""`,
      `'update payment' → ""`,
      `'lock reference' → ""`,
      `'unlock reference' → ""`,
      `'pin reference' → ""`,
      `'take key' → ""`,
      `'release key' → ""`,
      `'history' → ""`,
      `'event' → ""`,
    ],
    reason: 'Any name of a compiled query does, as long as no other has it.',
  },
  {
    file: 'lib/store/sql/ledger-writes.ts',
    changes: [
      'heldKeyHash !== keyHash → true',
      'heldKeyHash !== null → true',
      'heldReference !== referenceLock → true',
      'heldReference !== null → true',
    ],
    reason:
      'Spares work: what the payment has is given up and taken again in the same transaction, and null is the key or ' +
      'reference of no row.',
  },
  {
    file: 'lib/store/sql/outbox-writes.ts',
    changes: ['fanOutLock → false'],
    reason: 'SQLite, which alone writes so, has no such lock: its transactions that may write are alone.',
  },
  {
    file: 'lib/store/sql/outbox-writes.ts',
    changes: ['eventIds.length === 0 → false', 'oldest.length === 0 → false'],
    reason: 'Spares SQLite statements that find and change nothing.',
  },
  {
    file: 'lib/store/sql/outbox-writes.ts',
    changes: ['due.length === LOOK_AHEAD * limit → true'],
    reason:
      'Spares work: what waits is put off, too, where nothing is behind it. It is made due when what it waits for is ' +
      'gone, or when its time has come, as elsewhere.',
  },
  {
    file: 'lib/store/sql/outbox-writes.ts',
    changes: ['Number(row.blocked_until) > Number(row.now) → Number(row.blocked_until) >= Number(row.now)'],
    reason: 'Never equal: it is 0, or later than now by the condition of the same query.',
  },
  {
    file: 'lib/store/sql/outbox-writes.ts',
    changes: ['due[0]?.until → due[0].until'],
    reason: 'Said for the types: something was found.',
  },
  {
    file: 'lib/store/sql/ledger-writes.ts',
    changes: [`'a payment was not inserted, although its keys are free' → ""`, '!key → false'],
    reason:
      'Cannot happen on SQLite: what kept a row from being inserted is still there in the same transaction, beside ' +
      'which no other one writes.',
  },
  {
    file: 'lib/store/sql/outbox-writes.ts',
    changes: [`'attempts' → ""`, `'parked' → ""`, `'due_at' → ""`],
    reason: 'Names of what is selected for an insert, which goes by the order of its columns.',
  },
  {
    file: 'lib/store/sql/sql-outbox.ts',
    changes: ['-pairsMs → +pairsMs'],
    reason: 'Spares work: whether a pair is old is looked at again in the transaction that forgets it.',
  },
  {
    file: 'lib/store/sql/sql-outbox.ts',
    changes: ['performance.now() >= end → performance.now() > end'],
    reason: 'One batch more or less at the very moment at which the time is up.',
  },
  {
    file: 'lib/store/sql/sql-outbox.ts',
    changes: ['fanOutLock → false'],
    reason:
      'SQLite has no such lock: its transactions that may write are alone. With PostgreSQL, test/store/sql/engines/postgres/row-locks.spec.ts ' +
      'notices it.',
  },
  {
    file: 'lib/store/sql/sql-outbox.ts',
    changes: ['deliveries.length === 0 → false'],
    reason:
      'Spares SQLite a statement that changes nothing. PostgreSQL refuses an empty list, and its contract suite fails.',
  },
  {
    file: 'lib/store/sql/sql-transaction.ts',
    changes: ['performance.now() > end → performance.now() >= end'],
    reason: 'One try more or less at the very moment at which the time is up.',
  },
  {
    file: 'lib/store/sql/sql-payment-store.ts',
    changes: ['row?.now → row.now'],
    reason: 'Said for the types: the query always finds one row.',
  },
  {
    file: 'lib/store/sql/sql-database.ts',
    changes: ['() => false → () => undefined'],
    reason: 'Either means no.',
  },
  {
    file: 'lib/store/sql/payment-tables.ts',
    changes: [`'utf8' → ""`],
    reason: 'Node takes a text for UTF-8 where no encoding is named.',
  },
  {
    file: 'lib/store/sql/sql-database.ts',
    changes: [`'' → "Stryker was here!"`],
    reason: 'Said for the types: without an expression there is a clock.',
  },
  {
    file: 'lib/store/redis/scripts/purge-and-counts.ts',
    changes: [
      ` local oldest = call('ZRANGE', key('state', state), 0, 0, 'WITHSCORES') → local oldest = call('ZRANGE', key('state', state), 0, 1, 'WITHSCORES')`,
    ],
    reason: 'Reads one more, of which nothing is used.',
  },
  {
    file: 'lib/store/redis/scripts/purge-and-counts.ts',
    changes: [
      ` if livesUntil(pair) <= now then add('orphanedDeliveries', key('open', pair)) end → if livesUntil(pair) < now then add('orphanedDeliveries', key('open', pair)) end`,
    ],
    reason: 'Differs at one millisecond alone, of which nothing is promised: a millisecond later both say the same.',
  },
  {
    file: 'lib/store/redis/scripts/outbox.ts',
    changes: [' if not aliveUntil[pair] then → if true then'],
    reason: 'Spares work: the time is looked up once in a script.',
  },
  {
    file: 'lib/store/redis/scripts/outbox.ts',
    changes: [
      ' aliveUntil[pair] = announcedAt and announcedAt + ${PAIR_ALIVE_MS} or 0 → aliveUntil[pair] = announcedAt and announcedAt + ${…} or 1',
      ' local heldUntil = 0 → local heldUntil = 1',
    ],
    reason: 'Either is long ago: nothing is due before 1970.',
  },
  {
    file: 'lib/store/redis/scripts/outbox.ts',
    changes: [
      ' table.sort(deliveries, function(a, b) return versionOf(a.event) < versionOf(b.event) end) → table.sort(deliveries, function(a, b) return versionOf(a.event) <= versionOf(b.event) end)',
    ],
    reason: 'No two events of a payment have the same version.',
  },
  {
    file: 'lib/store/redis/scripts/library.ts',
    changes: [
      ' if a.score ~= b.score then return a.score < b.score end → if a.score ~= b.score then return a.score <= b.score end',
      ' if a.score ~= b.score then return a.score < b.score end → if true then return a.score < b.score end',
      ' if a.member ~= b.member then return a.member < b.member end → if a.member == b.member then return a.member < b.member end',
      ' if a.member ~= b.member then return a.member < b.member end → if a.member ~= b.member then return a.member <= b.member end',
      ' if a.member ~= b.member then return a.member < b.member end → if true then return a.member < b.member end',
      ' if a.member ~= b.member then return a.member < b.member end → if false then return a.member < b.member end',
      ' return a.from < b.from → return a.from <= b.from',
    ],
    reason: 'Of what has the same date, nobody is promised an order; and no two of a set are the same.',
  },
  {
    file: 'lib/store/redis/scripts/ledger.ts',
    changes: [
      ` if old.state then call('ZREM', key('state', old.state), id) end → if true then call('ZREM', key('state', old.state), id) end`,
      ` if old.reference and old.reference ~= arg.reference then call('ZREM', key('reference', old.referenc… → if old.reference or old.reference ~= arg.reference then call('ZREM', key('reference', old.reference)…`,
      ` if old.reference and old.reference ~= arg.reference then call('ZREM', key('reference', old.referenc… → if true then call('ZREM', key('reference', old.reference), id) end`,
    ],
    reason: 'Takes out what is not there, or what the next line enters again.',
  },
  {
    file: 'lib/store/redis/scripts/purge-and-counts.ts',
    changes: [
      `for _, pair in ipairs(call('ZRANGEBYSCORE', key('pairs'), '-inf', '(' .. now - arg.pairsMs)) do → for _, pair in ipairs(call('ZRANGEBYSCORE', key('pairs'), '-inf', now - arg.pairsMs)) do`,
      `local old = call('ZRANGEBYSCORE', key('spentKeys'), '-inf', '(' .. now - arg.keysMs, 'LIMIT', 0, arg… → local old = call('ZRANGEBYSCORE', key('spentKeys'), '-inf', now - arg.keysMs, 'LIMIT', 0, arg.limit)`,
      ' if tonumber(settled[i + 1]) >= before then break end → if tonumber(settled[i + 1]) > before then break end',
    ],
    reason: 'Differs at one millisecond alone, of which nothing is promised: a millisecond later both say the same.',
  },
  {
    file: 'lib/store/redis/scripts/purge-and-counts.ts',
    changes: [
      'return #old == tonumber(arg.limit) and 1 or 0 → return #old == tonumber(arg.limit) or 1 or 0',
      'return #old == tonumber(arg.limit) and 1 or 0 → return #old == tonumber(arg.limit) and 1 or 1',
    ],
    reason: 'One step more, which finds nothing.',
  },
  {
    file: 'lib/store/redis/scripts/purge-and-counts.ts',
    changes: [
      ' for _, handler in ipairs(of) do everyone[handler] = true end → for _, handler in ipairs(of) do everyone[handler] = false end',
    ],
    reason: 'Only the names are read.',
  },
  {
    file: 'lib/store/redis/scripts/purge-and-counts.ts',
    changes: [
      ` if value and call('GET', key(name, value)) == id then call('DEL', key(name, value)) end → if value or call('GET', key(name, value)) == id then call('DEL', key(name, value)) end`,
      ` if value and call('GET', key(name, value)) == id then call('DEL', key(name, value)) end → if true then call('DEL', key(name, value)) end`,
    ],
    reason:
      'A key that a payment says is its own is its own: every write keeps both in step. It is looked at nevertheless.',
  },
  {
    file: 'lib/store/redis/scripts/purge-and-counts.ts',
    changes: [
      ` if not string.find(field('record'), '"hostIdNonce":null', 1, true) then → if not string.find(field('record'), '"hostIdNonce":null', 1, false) then`,
      ` if not string.find(field('record'), '"hostIdNonce":null', 1, true) then → if not string.find(field('record'), '"hostIdNonce":null', 0, true) then`,
    ],
    reason: 'What is searched for means the same as a pattern, and Lua begins at the first character either way.',
  },
  {
    file: 'lib/store/redis/scripts/purge-and-counts.ts',
    changes: [
      ` if field('reference') then call('ZREM', key('reference', field('reference')), id) end → if true then call('ZREM', key('reference', field('reference')), id) end`,
    ],
    reason: 'Takes out what is not there.',
  },
  {
    file: 'lib/store/sql/driver-errors.ts',
    changes: ['[] → ["Stryker was here"]'],
    reason: 'Stands in for what was not found; only its second part is read.',
  },
  {
    file: 'lib/store/sql/engines/postgres/outbox-writes.ts',
    changes: ['rows[0]?.count → rows[0].count', 'rows[0]?.put_off → rows[0].put_off'],
    reason: 'Said for the types: the query always finds one row.',
  },
  {
    file: 'lib/store/sql/engines/postgres/ledger-writes.ts',
    changes: [
      'COLUMNS.map((column, index) => `${column} = $${index + 1}`) .slice(2) → COLUMNS.map((column, index) => `${column} = $${index + 1}`)',
    ],
    reason: 'Sets the account and the conversationId to what they are: the row is found by them.',
  },
  {
    file: 'lib/store/sql/engines/postgres/postgres-pool.ts',
    changes: ['!/unsupported startup parameter/i.test(String((error as Error).message)) → false'],
    reason: 'What keeps the first pool from connecting keeps the second from it, too, and that error is passed on.',
  },
  {
    file: 'lib/store/redis/redis-payment-store.ts',
    changes: [`'' → "Stryker was here!"`],
    reason: 'The name of no account, for a script that touches no key: the time is the same for all.',
  },
  {
    file: 'lib/store/redis/redis-payment-store.ts',
    changes: ['performance.now() >= end → performance.now() > end'],
    reason: 'One step more or less at the very moment at which the time is up.',
  },
  {
    file: 'lib/store/redis/script-calls.ts',
    changes: [`'utf8' → ""`],
    reason: 'Node takes a text for UTF-8 where no encoding is named.',
  },
];

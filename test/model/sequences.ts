import fc from 'fast-check';
import { AnswerLate, Callback, Crash, Init3d, Inquire, Pay, Reconcile, Resolve, Wait } from './commands.js';
import { CHARGE_PLAYS, HANGING, INIT_PLAYS, REFUND_PLAYS } from './model-gateway.js';
import { GiveBack, GiveBackTwice, InquireRefund, RecordRefund, ResolveRefund } from './refund-commands.js';
import type { Step } from './step.js';

const which = fc.nat(9);
const ask = fc.record({
  reference: fc.constantFrom('order-1', 'order-1', 'order-2', null),
  allowRepeat: fc.constantFrom(false, false, false, true),
  idempotencyKey: fc.constantFrom(null, null, 'key-1', 'key-2'),
  amount: fc.constantFrom('10.00', '10.00', '20.00'),
  again: fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(9) }),
});
const play = fc.oneof({ weight: 2, arbitrary: fc.constant('approve' as const) }, fc.constantFrom(...CHARGE_PLAYS));
const initPlay = fc.oneof({ weight: 3, arbitrary: fc.constant('page' as const) }, fc.constantFrom(...INIT_PLAYS));
const pays: fc.WeightedArbitrary<Step>[] = [
  { weight: 3, arbitrary: fc.tuple(ask, play).map((args) => new Pay(...args)) },
  { weight: 3, arbitrary: fc.tuple(ask, initPlay).map((args) => new Init3d(...args)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(which, play, fc.constantFrom(1, 1, 3), fc.constantFrom('true', 'true', 'true', 'foreign', 'vetoed'))
      .map(([payment, said, copies, kind]) => new Callback(payment, said, copies, kind as 'true')),
  },
];

const refundAsk = fc.record({
  which,
  isAny: fc.constantFrom(false, false, false, true),
  amount: fc.constantFrom(null, '4.00', '4.00', '4', '0.01', '0.01', '7.50', '10.00', '25.00'),
  key: fc.constantFrom(null, null, 'refund-1', 'refund-2'),
  id: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('none' as const, 'own' as const) },
    { weight: 1, arbitrary: fc.nat(19) },
  ),
});
const refundPlay = fc.oneof(
  { weight: 1, arbitrary: fc.constant('approve' as const) },
  { weight: 2, arbitrary: fc.constantFrom(...REFUND_PLAYS) },
);
const answeredPlay = refundPlay.filter((said) => said !== 'notSent' && !HANGING.includes(said));
const kind = fc.oneof({ weight: 5, arbitrary: fc.constant('refund' as const) }, fc.constant('void' as const));
const other = fc.constantFrom('refund' as const, 'recordRefund' as const);
const refunds: fc.WeightedArbitrary<Step>[] = [
  {
    weight: 3,
    arbitrary: fc.tuple(kind, refundAsk, refundPlay, fc.constantFrom(1, 1, 3)).map((args) => new GiveBack(...args)),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(refundAsk, answeredPlay, other, fc.nat(300)).map((args) => new GiveBackTwice(...args)),
  },
  { weight: 1, arbitrary: refundAsk.map((asked) => new RecordRefund(asked)) },
  { weight: 1, arbitrary: fc.tuple(which, fc.boolean()).map((args) => new InquireRefund(...args)) },
  { weight: 1, arbitrary: fc.tuple(which, fc.boolean()).map((args) => new ResolveRefund(...args)) },
];

const others: fc.WeightedArbitrary<Step>[] = [
  { weight: 2, arbitrary: fc.constantFrom(0.1, 2, 5, 11, 61, 300).map((minutes) => new Wait(minutes)) },
  { weight: 2, arbitrary: fc.tuple(which, fc.boolean()).map((args) => new Inquire(...args)) },
  { weight: 1, arbitrary: fc.tuple(which, fc.boolean()).map((args) => new Resolve(...args)) },
  { weight: 2, arbitrary: fc.constant(null).map(() => new Reconcile()) },
  { weight: 1, arbitrary: fc.constant(null).map(() => new Crash()) },
  { weight: 1, arbitrary: which.map((index) => new AnswerLate(index)) },
];
const anything = fc.array(fc.oneof(...pays, ...others, ...refunds), { maxLength: 30, size: 'max' });

/** A payment that can be refunded, once the gateway was asked about the `liar`. */
const charged = fc
  .tuple(ask, fc.constantFrom('approve' as const, 'approve' as const, 'less' as const, 'liar' as const))
  .map(([asked, said]): Step[] => [new Pay({ ...asked, allowRepeat: true, again: null }, said)]);
/** One whose ids at the gateway are not known, or not certain. */
const resolved = fc
  .tuple(ask, which)
  .map(([asked, index]): Step[] => [
    new Pay({ ...asked, allowRepeat: true, again: null }, 'lostCharged'),
    new Resolve(index, false),
  ]);
const unnamed = fc
  .tuple(ask, which)
  .map(([asked, index]): Step[] => [
    new Init3d({ ...asked, allowRepeat: true, again: null }, 'page'),
    new Callback(index, 'bare', 1, 'true'),
  ]);
const begun = fc.array(fc.oneof({ weight: 3, arbitrary: charged }, resolved, unnamed), { minLength: 1, maxLength: 2 });

/** A refund whose process ended, and which may still be answered. */
const interrupted = fc
  .tuple(kind, refundAsk, fc.constantFrom('hang' as const, 'hangGiven' as const))
  .map(([way, asked, said]): Step[] => [new GiveBack(way, asked, said, 1), new Wait(2), new Reconcile()]);
/** A refund that turns out to have given back after all, while another one holds the payment. */
const foundLate = refundAsk.map((asked): Step[] => {
  const part = { ...asked, amount: '0.01', key: null, id: 'none' } as const;
  return [
    new GiveBack('refund', part, 'liar', 1),
    new GiveBack('refund', part, 'vague', 1),
    new InquireRefund(1, false),
    new ResolveRefund(0, false),
    new ResolveRefund(1, false),
  ];
});
const refunding = fc.oneof(
  { weight: 1, arbitrary: interrupted },
  { weight: 1, arbitrary: foundLate },
  { weight: 25, arbitrary: fc.oneof(...others, ...refunds, ...refunds).map((step) => [step]) },
);
const mostlyRefunds = fc
  .tuple(begun, fc.array(refunding, { maxLength: 20, size: 'max' }))
  .map(([first, then]) => [...first, ...then].flat());

/** Everything that a merchant, a buyer, an operator and a gateway can do, and crashes, in any order. */
export const SEQUENCES: fc.Arbitrary<Step[]> = fc.oneof(
  { weight: 3, arbitrary: anything },
  { weight: 2, arbitrary: mostlyRefunds },
);

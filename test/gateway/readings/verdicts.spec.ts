import {
  CHARGE,
  type ChargeFacts,
  FACTS,
  INQUIRY,
  type InquiryFacts,
  judge,
  OPENING,
} from '../../../lib/gateway/readings/verdicts.js';

type Name = keyof typeof FACTS;
type Facts = ChargeFacts & InquiryFacts;
/** What has to hold of a verdict, whatever the facts are, and how it is said. */
type Rules = Readonly<Record<string, (word: string | undefined, facts: Facts) => boolean>>;

const OF_ALL = ['reply', 'http', 'code', 'id'] as const;
const OF_CHARGE = [...OF_ALL, 'currency', 'amount', 'sign', 'names', 'mustName', 'canAsk'] as const;
const OF_INQUIRY = [...OF_ALL, 'currency', 'amount', 'about', 'type', 'status', 'text'] as const;

/** Every combination of what these facts can be, in one object that changes: there are half a million. */
function* combinations([name, ...others]: readonly Name[], facts = {} as Record<Name, unknown>): Generator<Facts> {
  if (name === undefined) {
    yield facts as unknown as Facts;
    return;
  }
  for (const value of FACTS[name]) {
    facts[name] = value;
    yield* combinations(others, facts);
  }
}

/** By which codes nothing was taken, by the status of the answer. */
const NOTHING_TAKEN: Partial<Record<ChargeFacts['http'], readonly ChargeFacts['code'][]>> = {
  '2xx': ['card', 'declined'],
  client: ['card', 'declined'],
  invalid: ['card', 'declined', 'unheard', 'unpaid', 'not_found'],
  refused: ['card', 'declined', 'unheard', 'unpaid', 'not_found', 'none'],
};

const OF_CHARGES: Rules = {
  'money was taken only if an answer of success approves, is ours as far as it shows, and names what it has to': (
    state,
    { reply, http, code, id, currency, amount, sign, names, mustName },
  ) => {
    const isApproved = reply === 'read' && http === '2xx' && code === 'approved';
    const isOurs = id !== 'foreign' && currency === 'fits' && amount === 'fits' && sign === 'fits';
    return (state === 'succeeded') === (isApproved && isOurs && (names === 'both' || !mustName));
  },
  'nothing was taken only if an answer that can be read says so, and is not about another payment': (
    state,
    { reply, http, code, id },
  ) => state !== 'failed' || (reply === 'read' && id !== 'foreign' && NOTHING_TAKEN[http]?.includes(code) === true),
};

const OF_INQUIRIES: Rules = {
  'it says paid only beside a text or a status that says so, of the type that was asked about': (
    word,
    { reply, http, code, id, currency, amount, about, type, status, text },
  ) => {
    const isSaid = status === 'success' ? text !== 'other' : status === 'none' && text === 'approved';
    const isType = about === 'refund' ? type === 'refund' : type === 'sale' || type === 'absent';
    const isOurs = id !== 'foreign' && currency === 'fits' && amount === 'fits';
    const isPaid = reply === 'read' && http === '2xx' && code === 'approved' && isSaid && isType && isOurs;
    return (word === 'paid') === isPaid;
  },
  'it is unanswered only if nothing came that can be read, or an error of the gateway’s own': (
    word,
    { reply, http, code, id },
  ) => {
    const isError = http === 'server' || http === 'undecided';
    const isMute = reply === 'read' && http !== '2xx' && id !== 'foreign' && ['none', 'unreadable'].includes(code);
    return (word === 'unanswered') === (reply === 'none' || isError || isMute);
  },
  'it says that nothing was paid only by a listed code or a status, and never beside what may be a payment': (
    word = '',
    { reply, http, code, id, status },
  ) => {
    if (!['declined', 'not_found', 'unpaid'].includes(word)) return true;
    const isSaid = ['card', 'not_found', 'unpaid'].includes(code) || status === 'unpaid';
    const isDoubtful = ['indeterminate', 'unreadable', 'variant', 'none'].includes(code);
    const isAnswer = reply === 'read' && http !== 'server' && http !== 'undecided' && id !== 'foreign';
    return isAnswer && isSaid && !isDoubtful && status !== 'success' && status !== 'unreadable';
  },
};

describe.each([
  ['CHARGE', CHARGE, OF_CHARGE, OF_CHARGES],
  ['INQUIRY', INQUIRY, OF_INQUIRY, OF_INQUIRIES],
  ['OPENING', OPENING, OF_ALL, {}],
] as const)('the table %s', (_name, table, factNames, rules: Rules) => {
  it('keeps its rules whatever the facts are, and has no row that decides nothing', () => {
    const given = new Set<unknown>();
    for (const facts of combinations(factNames)) {
      const verdict: unknown = judge<Facts, unknown>(table, facts);
      given.add(verdict);
      const [word] = (verdict as readonly string[] | null) ?? [];
      for (const rule of Object.keys(rules)) {
        if (!rules[rule]!(word, facts)) throw new Error(`${rule}: ${JSON.stringify(facts)}: ${String(verdict)}`);
      }
    }
    // Each row has a verdict of its own, an array or a text.
    expect(table.map(([, verdict]) => verdict).filter((verdict) => !given.has(verdict))).toEqual([]);
  });
});

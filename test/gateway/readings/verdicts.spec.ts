import {
  CHARGE,
  type ChargeFacts,
  FACTS,
  INQUIRY,
  type InquiryFacts,
  judge,
  OPENING,
  type Table,
} from '../../../lib/gateway/readings/verdicts.js';

type Facts = Partial<Record<keyof typeof FACTS, unknown>>;

const OF_ALL = ['reply', 'http', 'code', 'id'] as const;
const OF_CHARGE = [...OF_ALL, 'currency', 'amount', 'sign', 'names', 'mustName', 'canAsk'] as const;
const OF_INQUIRY = [...OF_ALL, 'currency', 'amount', 'about', 'type', 'status', 'text'] as const;

/** Every combination of what these facts can be. */
function* combinations(names: readonly (keyof typeof FACTS)[], facts: Facts = {}): Generator<Facts> {
  const [name, ...others] = names;
  if (name === undefined) {
    yield { ...facts };
    return;
  }
  for (const value of FACTS[name]) yield* combinations(others, { ...facts, [name]: value });
}

describe.each([
  ['CHARGE', CHARGE as Table<Facts, unknown>, OF_CHARGE],
  ['INQUIRY', INQUIRY as Table<Facts, unknown>, OF_INQUIRY],
  ['OPENING', OPENING as Table<Facts, unknown>, OF_ALL],
] as const)('the table %s', (_name, table, names) => {
  it('has no row that decides nothing', () => {
    const verdicts = new Map(table.map((row) => [row, false]));
    for (const facts of combinations(names)) {
      const row = table.find(([when]) =>
        Object.entries(when).every(([name, wanted]) => [wanted].flat().includes(facts[name as keyof Facts])),
      );
      verdicts.set(row!, true);
      if (judge(table, facts) !== row![1]) throw new Error(`judged otherwise: ${JSON.stringify(facts)}`);
    }
    expect([...verdicts].filter(([, decides]) => !decides).map(([row]) => row)).toEqual([]);
  });
});

describe('whatever the facts are', () => {
  it('money was taken only if an answer of success approves, is ours as far as it shows, and names what it has to', () => {
    for (const facts of combinations(OF_CHARGE) as Generator<ChargeFacts>) {
      const [state] = judge(CHARGE, facts);
      const { reply, http, code, id, currency, amount, sign, names, mustName } = facts;
      const isApproved = reply === 'read' && http === '2xx' && code === 'approved';
      const isOurs = id !== 'foreign' && currency === 'fits' && amount === 'fits' && sign === 'fits';
      if ((state === 'succeeded') !== (isApproved && isOurs && (names === 'both' || !mustName))) throw wrong(facts);
    }
  });

  it('nothing was taken only if an answer that can be read says so, and is not about another payment', () => {
    for (const facts of combinations(OF_CHARGE) as Generator<ChargeFacts>) {
      if (judge(CHARGE, facts)[0] !== 'failed') continue;
      const { reply, http, code, id } = facts;
      const says: Partial<Record<ChargeFacts['http'], readonly ChargeFacts['code'][]>> = {
        '2xx': ['card', 'declined'],
        client: ['card', 'declined'],
        invalid: ['card', 'declined', 'unheard', 'unpaid', 'not_found'],
        refused: ['card', 'declined', 'unheard', 'unpaid', 'not_found', 'none'],
      };
      if (reply !== 'read' || id === 'foreign' || !says[http]?.includes(code)) throw wrong(facts);
    }
  });

  it('an inquiry says paid only beside a text or a status that says so, of the type that was asked about', () => {
    for (const facts of combinations(OF_INQUIRY) as Generator<InquiryFacts>) {
      const [word] = judge(INQUIRY, facts);
      const { reply, http, code, id, currency, amount, about, type, status, text } = facts;
      const isSaid = status === 'success' ? text !== 'other' : status === 'none' && text === 'approved';
      const isType = about === 'refund' ? type === 'refund' : type === 'sale' || type === 'absent';
      const isOurs = id !== 'foreign' && currency === 'fits' && amount === 'fits';
      const isPaid = reply === 'read' && http === '2xx' && code === 'approved' && isSaid && isType && isOurs;
      if ((word === 'paid') !== isPaid) throw wrong(facts);
    }
  });

  it('an inquiry is unanswered only if nothing came that can be read, or an error of the gateway’s own', () => {
    for (const facts of combinations(OF_INQUIRY) as Generator<InquiryFacts>) {
      const { reply, http, code, id } = facts;
      const isError = http === 'server' || http === 'undecided';
      const isMute =
        reply === 'read' && http !== '2xx' && id !== 'foreign' && (code === 'none' || code === 'unreadable');
      const isUnanswered = reply === 'none' || isError || isMute;
      if ((judge(INQUIRY, facts)[0] === 'unanswered') !== isUnanswered) throw wrong(facts);
    }
  });

  it('an inquiry says that nothing was paid only by a listed code or a status, and never beside what may be a payment', () => {
    for (const facts of combinations(OF_INQUIRY) as Generator<InquiryFacts>) {
      const [word] = judge(INQUIRY, facts);
      if (word !== 'declined' && word !== 'not_found' && word !== 'unpaid') continue;
      const { reply, http, code, id, status } = facts;
      const isListed = code === 'card' || code === 'not_found' || code === 'unpaid';
      const isDoubtful = code === 'indeterminate' || code === 'unreadable' || code === 'variant' || code === 'none';
      const isAnswer = reply === 'read' && http !== 'server' && http !== 'undecided' && id !== 'foreign';
      if (
        !isAnswer ||
        isDoubtful ||
        status === 'success' ||
        status === 'unreadable' ||
        !(isListed || status === 'unpaid')
      )
        throw wrong(facts);
    }
  });
});

function wrong(facts: object): Error {
  return new Error(`wrong for ${JSON.stringify(facts)}`);
}

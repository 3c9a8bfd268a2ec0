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

/** Expects of every charge, or inquiry, that its verdict is right. */
const every =
  <F>(table: Table<F, readonly [string, ...unknown[]]>, names: readonly (keyof typeof FACTS)[]) =>
  (isRight: (word: string, facts: F) => boolean): void => {
    for (const facts of combinations(names) as Generator<F>) {
      if (!isRight(judge(table, facts)[0], facts)) throw new Error(`wrong for ${JSON.stringify(facts)}`);
    }
  };
const everyCharge = every<ChargeFacts>(CHARGE, OF_CHARGE);
const everyInquiry = every<InquiryFacts>(INQUIRY, OF_INQUIRY);

describe('whatever the facts are', () => {
  it('money was taken only if an answer of success approves, is ours as far as it shows, and names what it has to', () => {
    everyCharge((state, { reply, http, code, id, currency, amount, sign, names, mustName }) => {
      const isApproved = reply === 'read' && http === '2xx' && code === 'approved';
      const isOurs = id !== 'foreign' && currency === 'fits' && amount === 'fits' && sign === 'fits';
      return (state === 'succeeded') === (isApproved && isOurs && (names === 'both' || !mustName));
    });
  });

  it('nothing was taken only if an answer that can be read says so, and is not about another payment', () => {
    const says: Partial<Record<ChargeFacts['http'], readonly ChargeFacts['code'][]>> = {
      '2xx': ['card', 'declined'],
      client: ['card', 'declined'],
      invalid: ['card', 'declined', 'unheard', 'unpaid', 'not_found'],
      refused: ['card', 'declined', 'unheard', 'unpaid', 'not_found', 'none'],
    };
    everyCharge((state, { reply, http, code, id }) => {
      return state !== 'failed' || (reply === 'read' && id !== 'foreign' && says[http]?.includes(code) === true);
    });
  });

  it('an inquiry says paid only beside a text or a status that says so, of the type that was asked about', () => {
    everyInquiry((word, { reply, http, code, id, currency, amount, about, type, status, text }) => {
      const isSaid = status === 'success' ? text !== 'other' : status === 'none' && text === 'approved';
      const isType = about === 'refund' ? type === 'refund' : type === 'sale' || type === 'absent';
      const isOurs = id !== 'foreign' && currency === 'fits' && amount === 'fits';
      const isPaid = reply === 'read' && http === '2xx' && code === 'approved' && isSaid && isType && isOurs;
      return (word === 'paid') === isPaid;
    });
  });

  it('an inquiry is unanswered only if nothing came that can be read, or an error of the gateway’s own', () => {
    everyInquiry((word, { reply, http, code, id }) => {
      const isError = http === 'server' || http === 'undecided';
      const isMute = reply === 'read' && http !== '2xx' && id !== 'foreign' && ['none', 'unreadable'].includes(code);
      return (word === 'unanswered') === (reply === 'none' || isError || isMute);
    });
  });

  it('an inquiry says that nothing was paid only by a listed code or a status, and never beside what may be a payment', () => {
    everyInquiry((word, { reply, http, code, id, status }) => {
      if (!['declined', 'not_found', 'unpaid'].includes(word)) return true;
      const isSaid = ['card', 'not_found', 'unpaid'].includes(code) || status === 'unpaid';
      const isDoubtful = ['indeterminate', 'unreadable', 'variant', 'none'].includes(code);
      const isAnswer = reply === 'read' && http !== 'server' && http !== 'undecided' && id !== 'foreign';
      return isAnswer && isSaid && !isDoubtful && status !== 'success' && status !== 'unreadable';
    });
  });
});

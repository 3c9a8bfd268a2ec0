import { format, formatWithOptions, inspect } from 'node:util';
import { instanceToInstance, instanceToPlain, plainToInstance, serialize } from 'class-transformer';
import { type CardDetails, CardDetailsDto } from '../../lib/dto/card.dto.js';
import { DoPaymentDto, Init3dDto } from '../../lib/dto/sale.dto.js';
import { CARD, MASKED, sampleInput } from './sample-input.js';

const FORBIDDEN = /5246776356903508|776356|792|1230/;
const card = Object.assign(new CardDetailsDto(), CARD);
const payment = plainToInstance(Init3dDto, sampleInput());
const deep = { a: { b: { c: { d: [card] } } } };
const withPlainCard = Object.assign(new DoPaymentDto(), sampleInput());

describe('CardDetailsDto', () => {
  it.each<[string, string]>([
    ['JSON.stringify', JSON.stringify(card)],
    ['JSON.stringify, nested', JSON.stringify({ payment, cards: [card] }, null, 2)],
    ['util.inspect', inspect(card)],
    ['util.inspect, nested', inspect(payment)],
    ['util.inspect at depth', inspect(deep, { depth: null })],
    ['util.inspect, shown hidden', inspect(payment, { showHidden: true, depth: 9 })],
    ['util.format %s', format('%s', card)],
    ['util.format %o', format('%o', card)],
    ['util.format %j', format('%j', payment)],
    ['coloured', formatWithOptions({ colors: true }, '%O', payment)],
    // eslint-disable-next-line @typescript-eslint/restrict-template-expressions
    ['a template', `${card}`],
    ['String', String(card)],
    ['instanceToPlain', JSON.stringify(instanceToPlain(card))],
    ['instanceToPlain, nested', JSON.stringify(instanceToPlain({ payment, deep }))],
    ['instanceToPlain with groups', JSON.stringify(instanceToPlain(payment, { groups: ['a'], version: 2 }))],
    ['instanceToPlain without decorators', inspect(instanceToPlain(payment, { ignoreDecorators: true }), { depth: 9 })],
    ['instanceToPlain of a plain card in a payment', inspect(instanceToPlain(withPlainCard), { depth: 9 })],
    ['serialize', serialize(payment)],
    ['an error that holds it', inspect(Object.assign(new Error('x'), { payment }), { depth: 9 })],
  ])('shows first six and last four at most by %s', (_way, shown) => {
    expect(shown).not.toMatch(FORBIDDEN);
    expect(shown).toContain(MASKED);
  });

  it('shows nothing of what is not a card number', () => {
    for (const cardNo of ['1234', 5246776356903508, undefined, null, { cardNo: CARD.cardNo }]) {
      const odd = Object.assign(new CardDetailsDto(), CARD, { cardNo });
      for (const shown of [JSON.stringify(odd), inspect(odd), String(odd), inspect(instanceToPlain(odd))]) {
        expect(shown).not.toMatch(/\d{4}/);
      }
    }
  });

  it('can be read, copied and built', () => {
    const { cardNo, expDate, cvv }: CardDetails = plainToInstance(CardDetailsDto, CARD);
    expect({ cardNo, expDate, cvv }).toEqual(CARD);
    expect({ ...instanceToInstance(card) }).toEqual(CARD);
    const plain: CardDetailsDto = { ...CARD };
    expect(plain).toEqual(CARD);
  });
});

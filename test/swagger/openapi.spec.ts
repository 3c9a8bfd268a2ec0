import 'nestjs-card-payment/swagger';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import {
  Auth3dDto,
  CheckBinDto,
  CheckoutDto,
  DoPaymentDto,
  Init3dDto,
  RecordRefundDto,
  RefundDto,
  VoidDto,
} from 'nestjs-card-payment';
import { problemsOf } from '../dto/message-problems.js';
import { fullInput } from '../dto/sample-input.js';

const CHECKOUT = {
  cardDetails: { cardNo: '5246 7763 5690 3508', expDate: '12 / 2030', cvv: '792' },
  cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '+90 555 111 22 33' },
  installmentCount: 3,
};

/** By path: values that both the rules and the schema must accept or refuse. */
const VALUES: Record<string, { good: readonly unknown[]; bad: readonly unknown[] }> = {
  'cardDetails.cardNo': {
    good: ['5246776356903508', '5246-7763-5690-3508'],
    bad: ['1234', 5246776356903508, 'x', '5246776356903508x', null],
  },
  'cardDetails.expDate': {
    good: ['1230', '12/30', '12 / 30', '12/2030'],
    bad: ['1330', '0030', '130', '12--30', '12/1930', '2030-12', 1230],
  },
  'cardDetails.cvv': { good: ['792', '0000'], bad: ['12', '12345', 'abc', 792, '792\n'] },
  'cardHolderInfo.cardHolderName': { good: ['Ç'], bad: ['', '  ', 'x'.repeat(256), 7] },
  'cardHolderInfo.buyerGsm': { good: ['5551112233', '(0555) 111-22-33'], bad: ['', 'x', 905551112233, '++90555111'] },
  'transactionDetails.amount': { good: ['149.90', 149.9, '1'], bad: ['', '1,50', '1e3', '-1', true, {}] },
  'transactionDetails.currencyCode': { good: [8, 949, 997], bad: [0, 1, 963, 999, 9.5, '949', null] },
  'transactionDetails.installmentCount': { good: [1, 12], bad: [0, 1000, 1.5, '3', null] },
  'transactionDetails.vftFlag': { good: [true, false], bad: ['true', 1, null] },
  'transactionDetails.transactionType': { good: ['SALE'], bad: ['', 'REFUND', 7, null] },
  'extraParameter.pfSubMerchantId': { good: ['sub-1'], bad: ['', null] },
  reference: { good: ['order-1'], bad: ['', ' ', 'x'.repeat(256), 7, null, {}] },
  bin: { good: ['450803', '45080345'], bad: ['45080', '450803450', '4508034508034509', 450803, '45O803', null, {}] },
  refundId: { good: ['ABC2'], bad: ['', ' ', 7, null] },
  amount: { good: ['49.90', 49.9, '1'], bad: ['', '1,50', '1e3', '-1', true, {}] },
  note: { good: ['a note\nof two lines', 'x'.repeat(10_000)], bad: ['', '  ', 'x'.repeat(10_001), 7, null] },
  by: { good: ['ada@shop.example'], bad: ['', 7, null] },
  allowRepeat: { good: [true], bad: ['yes', 1] },
  returnUrl: { good: ['https://shop.example/a?b=c'], bad: ['', '/return', 'ftp://shop.example', 7] },
  cardHolderInfo: { good: [], bad: ['x', 7, [], null, undefined] },
  cardDetails: { good: [], bad: [undefined, {}] },
};

/** Of a valid message of each type, the fields in which it is changed. */
const MESSAGES: readonly [type: Parameters<typeof problemsOf>[0], message: object, changed: RegExp][] = [
  [CheckBinDto, { bin: '450803' }, /^bin$/],
  [CheckoutDto, CHECKOUT, /^card/],
  [DoPaymentDto, { ...fullInput(), cardDetails: CHECKOUT.cardDetails }, /^(?!(?:bin|refundId|note|by|amount)$)/],
  [RefundDto, { conversationId: 'ABC1' }, /^(?:refundId|note|by|amount)$/],
];

describe('nestjs-card-payment/swagger', () => {
  let app: INestApplication;
  let document: OpenAPIObject;

  beforeAll(async () => {
    const module = await Test.createTestingModule({}).compile();
    app = module.createNestApplication({ logger: false });
    const settings = new DocumentBuilder().setTitle('Shop').setVersion('1').build();
    const extraModels = [Auth3dDto, Init3dDto, RecordRefundDto, VoidDto, ...MESSAGES.map(([type]) => type)];
    document = JSON.parse(
      JSON.stringify(SwaggerModule.createDocument(app, settings, { extraModels })),
    ) as OpenAPIObject;
  });
  afterAll(() => app.close());

  // How it describes them, with which card as an example, is in test/api/expected/schemas.txt.
  it('adds the messages to a valid OpenAPI document', async () => {
    expect(await new Validator().validate({ ...document })).toEqual({ valid: true });
  });

  it.each(MESSAGES)('accepts and refuses the same values as the rules: %p', (type, good, changed) => {
    const ajv = new Ajv({ strict: false, formats: { uri: true } });
    ajv.addSchema({ $id: 'api', components: document.components });
    const accepts = ajv.getSchema(`api#/components/schemas/${type.name}`)!;
    expect([problemsOf(type, structuredClone(good)), accepts(good)]).toEqual([[], true]);
    for (const [path, values] of Object.entries(VALUES).filter(([path]) => changed.test(path))) {
      for (const value of [...values.good, ...values.bad]) {
        const message = structuredClone(good) as Record<string, unknown>;
        const [first = '', second] = path.split('.');
        message[first] = second === undefined ? value : { ...(message[first] as object), [second]: value };
        const byRules = problemsOf(type, structuredClone(message)).length === 0;
        const bySchema = accepts(JSON.parse(JSON.stringify(message)));
        const isGood = values.good.includes(value);
        expect({ path, value, byRules, bySchema }).toEqual({ path, value, byRules: isGood, bySchema: isGood });
      }
    }
  });
});

import 'nestjs-card-payment/swagger';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import { getMetadataStorage } from 'class-validator';
import {
  Auth3dDto,
  CardDetailsDto,
  CardHolderInfoDto,
  CheckBinDto,
  CheckoutDto,
  DoPaymentDto,
  Init3dDto,
  RecordRefundDto,
  RefundDto,
  VoidDto,
} from 'nestjs-card-payment';
import { RULE_SCHEMAS } from '../../lib/swagger/describe-dto.js';
import { problemsOf } from '../dto/message-problems.js';
import { fullInput } from '../dto/sample-input.js';

/** What is the body of a request; they bring the messages that they consist of. */
const BODIES = [Auth3dDto, CheckBinDto, CheckoutDto, DoPaymentDto, Init3dDto, RecordRefundDto, RefundDto, VoidDto];

interface FieldSchema {
  readonly type?: string;
  readonly $ref?: string;
  readonly writeOnly?: boolean;
  readonly example?: unknown;
  readonly description?: string;
}
interface MessageSchema {
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
}

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

function validated(document: object): ReturnType<Validator['validate']> {
  return new Validator().validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>);
}

describe('nestjs-card-payment/swagger', () => {
  let app: INestApplication;
  let document: OpenAPIObject;
  let schemas: Record<string, MessageSchema>;

  beforeAll(async () => {
    const module = await Test.createTestingModule({}).compile();
    app = module.createNestApplication({ logger: false });
    const settings = new DocumentBuilder().setTitle('Shop').setVersion('1').build();
    document = SwaggerModule.createDocument(app, settings, { extraModels: [...BODIES] });
    schemas = JSON.parse(JSON.stringify(document.components?.schemas)) as Record<string, MessageSchema>;
  });
  afterAll(() => app.close());

  it('adds the messages to a valid OpenAPI document', async () => {
    const { valid, errors } = await validated(document);
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    // The validator does detect an invalid schema.
    const broken = { ...document, components: { schemas: { Card: { type: 'card' } } } };
    expect((await validated(broken)).valid).toBe(false);
  });

  // How it describes them, with which card as an example, is in test/api/expected/schemas.txt.
  it('describes every field and every rule', () => {
    for (const dto of BODIES) {
      const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
      const fields = new Set(rules.map(({ propertyName }) => propertyName));
      expect(Object.keys(schemas[dto.name]?.properties ?? {}).sort()).toEqual([...fields].sort());
      for (const { name } of rules.filter(({ name }) => name !== undefined)) expect(RULE_SCHEMAS).toHaveProperty(name!);
    }
    const bodies = [CardDetailsDto, CardHolderInfoDto, CheckBinDto, CheckoutDto, RefundDto, VoidDto, RecordRefundDto];
    for (const { name } of bodies) {
      for (const field of Object.values(schemas[name]!.properties)) expect(field.description).toMatch(/.\.$/);
    }
  });

  it('accepts and refuses the same values as the rules', () => {
    const ajv = new Ajv({ strict: false, formats: { uri: true }, schemas: [] });
    ajv.addSchema({ $id: 'api', components: { schemas } });
    const accepts = (name: string, value: unknown) => ajv.validate({ $ref: `api#/components/schemas/${name}` }, value);
    const check = (
      type: typeof CheckBinDto | typeof CheckoutDto | typeof DoPaymentDto | typeof RefundDto,
      good: object,
      only: RegExp,
    ) => {
      expect(problemsOf(type, structuredClone(good))).toEqual([]);
      expect({ errors: accepts(type.name, good) ? [] : ajv.errors }).toEqual({ errors: [] });
      for (const [path, values] of Object.entries(VALUES).filter(([path]) => only.test(path))) {
        for (const [isGood, value] of [
          ...values.good.map((value) => [true, value] as const),
          ...values.bad.map((value) => [false, value] as const),
        ]) {
          const message = structuredClone(good) as Record<string, unknown>;
          const [first = '', second] = path.split('.');
          if (second === undefined) message[first] = value;
          else message[first] = { ...(message[first] as object), [second]: value };
          const byRules = problemsOf(type, structuredClone(message)).length === 0;
          const bySchema = accepts(type.name, JSON.parse(JSON.stringify(message)));
          expect({ path, value, byRules, bySchema }).toEqual({ path, value, byRules: isGood, bySchema: isGood });
        }
      }
    };
    check(CheckBinDto, { bin: '450803' }, /^bin$/);
    check(CheckoutDto, CHECKOUT, /^card/);
    check(DoPaymentDto, { ...fullInput(), cardDetails: CHECKOUT.cardDetails }, /^(?!(?:bin|refundId|note|by|amount)$)/);
    check(RefundDto, { conversationId: 'ABC1' }, /^(?:refundId|note|by|amount)$/);
  });
});

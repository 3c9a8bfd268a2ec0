import {
  type ArgumentMetadata,
  type PipeTransform,
  type Type,
  ValidationPipe,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import { CardDetailsDto } from '../dto/card.dto.js';
import { Auth3dDto } from '../dto/gateway.dto.js';
import {
  CardHolderInfoDto,
  CheckoutDto,
  DoPaymentDto,
  ExtraParameterDto,
  TransactionDetailsDto,
} from '../dto/sale.dto.js';
import { cardsInTexts, fieldPath, inputProblem, MAX_FIELDS, problemsOf } from '../dto/validate-input.js';
import { PaymentValidationError, type ValidationProblem } from '../errors/payment-errors.js';
import { textLanguage, type TextLanguage } from '../runtime/text-language.js';

export interface PaymentValidationPipeOptions extends ValidationPipeOptions {
  /**
   * The language of the messages: `tr` (default) or `en`. `PaymentExceptionFilter` uses the buyer's language instead.
   */
  readonly language?: TextLanguage;
}

/** This module's classes that a request may hold. */
const OUR_INPUTS: readonly Type[] = [
  CheckoutDto,
  CardDetailsDto,
  CardHolderInfoDto,
  DoPaymentDto,
  TransactionDetailsDto,
  ExtraParameterDto,
  Auth3dDto,
];

/** Deeper than any message, but not deep enough to overflow the stack. */
const MAX_DEPTH = 16;
/** More values than any message has. Of an array of empty objects, each would be made into an instance and checked. */
const MAX_VALUES = 1_000;

/**
 * A `ValidationPipe` with `whitelist` and `transform` (unless you set them otherwise), for `app.useGlobalPipes` or one
 * parameter. For your own classes it does the same as Nest's pipe. For this module's classes (`CheckoutDto`, and
 * classes that extend it), it
 *
 * - reads a form whether its parser nests the fields (`express.urlencoded`) or not (Fastify's): `cardDetails[cardNo]`
 *   or `cardDetails.cardNo`; a field that is given in both ways is refused;
 * - refuses input with a `PaymentValidationError`, which has one issue for each field, with a message for the buyer;
 * - always gives your handler an instance, which prints its card masked.
 */
export function paymentValidationPipe({
  language = 'tr',
  ...options
}: PaymentValidationPipeOptions = {}): ValidationPipe {
  return new PaymentValidationPipe({ whitelist: true, transform: true, ...options }, textLanguage(language));
}

class PaymentValidationPipe extends ValidationPipe {
  constructor(
    options: ValidationPipeOptions,
    private readonly language: TextLanguage,
  ) {
    super(options);
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const metatype: unknown = this.expectedType ?? metadata.metatype;
    if (!isOurs(metatype) || !this.toValidate({ ...metadata, metatype })) {
      return super.transform(value, metadata) as Promise<unknown>;
    }
    const read = await this.read(value, metatype);
    if (Array.isArray(read)) throw new PaymentValidationError(read, this.language);
    return read;
  }

  private async read(value: unknown, metatype: Type<object>): Promise<object | ValidationProblem[]> {
    const form = value ?? {};
    if (typeof form !== 'object' || Array.isArray(form)) return [inputProblem('', 'isObject')];
    if (Object.keys(form).length > MAX_FIELDS) return [inputProblem('', 'fieldCount')];
    if (isOversized(form)) return [inputProblem('', 'unreadable')];
    const { fields, repeated, isForged } = readForm(form);
    if (isForged) return [inputProblem('?', 'unknownField')];
    if (repeated.length > 0)
      return repeated.map(([group, name]) => inputProblem(fieldPath(group, name), 'repeatedField'));
    const instance = plainToInstance(metatype, withCount(fields), this.transformOptions);
    const errors = await validate(instance, {
      stopAtFirstError: true,
      ...this.validatorOptions,
      validationError: { target: false, value: false },
    });
    const problems = problemsOf(errors);
    if (problems.length === 0) problems.push(...cardsInTexts(instance));
    return problems.length > 0 ? problems : instance;
  }
}

/** Nests the fields of a form for this module's classes, and checks nothing: the service does, if no other pipe did. */
export class FormFieldsPipe implements PipeTransform {
  transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
    if (!isOurs(metatype) || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const names = Object.keys(value);
    if (names.length > MAX_FIELDS || !names.some((name) => FLAT_NAME.test(name))) return value;
    const { fields, repeated, isForged } = readForm(value);
    // Such a form is left as it is, and refused.
    return repeated.length > 0 || isForged ? value : withCount(fields);
  }
}

function isOurs(metatype: unknown): metatype is Type<object> {
  if (typeof metatype !== 'function') return false;
  return OUR_INPUTS.some((ours) => metatype === ours || metatype.prototype instanceof ours);
}

/** A form has no numbers, so its number of instalments is read from text. */
function withCount(fields: Readonly<Record<string, unknown>>): object {
  const { installmentCount } = fields;
  const isCount = typeof installmentCount === 'string' && /^[1-9]\d{0,2}$/.test(installmentCount);
  return isCount ? { ...fields, installmentCount: Number(installmentCount) } : fields;
}

/** Whether it is nested too deeply or has too many values. It is looked at no further than that. */
function isOversized(form: object): boolean {
  let values = 0;
  const isTooMuch = (value: unknown, depth: number): boolean => {
    values += 1;
    if (values > MAX_VALUES) return true;
    if (typeof value !== 'object' || value === null) return false;
    return depth === 0 || Object.values(value).some((field) => isTooMuch(field, depth - 1));
  };
  return isTooMuch(form, MAX_DEPTH);
}

/** How a parser that does not nest names a nested field: `cardDetails[cardNo]` or `cardDetails.cardNo`. */
const FLAT_NAME = /^([A-Za-z_]\w{0,39})(?:\[([A-Za-z_]\w{0,39})\]|\.([A-Za-z_]\w{0,39}))$/;

/** A form, nested as its names say. */
interface FormFields {
  readonly fields: Record<string, unknown>;
  /** Fields that were given twice, so that it is not known which value counts. */
  readonly repeated: readonly (readonly [group: string, name: string])[];
  /** Whether there is a name that every object has, such as `__proto__`. */
  readonly isForged: boolean;
}

/**
 * Reads a form from a parsed body, which may be flat (Fastify) or nested (Express). The body is not changed. Fields
 * that are nested deeper stay as they are, and so do fields that also have a value of their own.
 */
function readForm(body: object): FormFields {
  const fields: Record<string, unknown> = {};
  const flat = new Map<string, Record<string, unknown>>();
  const repeated: [string, string][] = [];
  let isForged = false;
  for (const [name, value] of Object.entries(body)) {
    const [, group = '', inBrackets, afterDot] = FLAT_NAME.exec(name) ?? [];
    const field = inBrackets ?? afterDot;
    if ([name, group, field].some((part) => part !== undefined && part in Object.prototype)) {
      isForged = true;
    } else if (field === undefined) {
      fields[name] = value;
    } else {
      const nested = flat.get(group) ?? {};
      flat.set(group, nested);
      if (Object.hasOwn(body, group) || Object.hasOwn(nested, field)) repeated.push([group, field]);
      nested[field] = value;
    }
  }
  for (const [group, nested] of flat) if (!Object.hasOwn(fields, group)) fields[group] = nested;
  return { fields, repeated, isForged };
}

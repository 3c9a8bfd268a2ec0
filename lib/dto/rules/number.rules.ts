import { applyDecorators } from '@nestjs/common';
import { AMOUNT_TEXTS, type AmountProblem, amountProblem } from '../../payment/amount.js';
import { CURRENCY_CODES, isCurrencyCode } from '../../payment/currency.js';
import { rule } from './rule.js';

/**
 * A rule for each thing that can be wrong with an amount. The `currencyCode` beside it says how many decimals it may
 * have.
 */
export function IsAmount(): PropertyDecorator {
  const problems = Object.keys(AMOUNT_TEXTS) as AmountProblem[];
  return applyDecorators(
    ...problems.map((problem) =>
      rule({ name: problem, texts: AMOUNT_TEXTS[problem] }, (value, { currencyCode }: { currencyCode?: unknown }) => {
        const currency = typeof currencyCode === 'number' ? currencyCode : NaN;
        return amountProblem(value, currency) !== problem;
      }),
    ),
  );
}

/** The number of a currency that is in use. */
export function IsCurrencyCode(): PropertyDecorator {
  const texts = {
    en:
      '$property must be the ISO 4217 number of a currency in use, written as a number: ' +
      '949 for TRY, 840 for USD, 978 for EUR; neither letters ("TRY") nor text ("949") are taken',
    tr:
      '$property, kullanımdaki bir para biriminin ISO 4217 numarası olmalı ve sayı olarak yazılmalı: ' +
      'TRY için 949, USD için 840, EUR için 978; harf kodu ("TRY") ve metin ("949") kabul edilmez',
  };
  return rule({ name: 'currencyCode', texts, constraints: [CURRENCY_CODES] }, isCurrencyCode);
}

/** A whole number within bounds; never text. */
export function IsWholeNumber(min: number, max: number): PropertyDecorator {
  const texts = {
    en: `$property must be a whole number from ${min} to ${max}`,
    tr: `$property ${min} ile ${max} arasında bir tam sayı olmalı`,
  };
  return rule(
    { name: 'wholeNumber', texts, constraints: [min, max] },
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
  );
}

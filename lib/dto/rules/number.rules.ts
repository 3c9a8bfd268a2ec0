import { applyDecorators } from '@nestjs/common';
import { AMOUNT_TEXTS, type AmountProblem, amountProblem } from '../../payment/amount.js';
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

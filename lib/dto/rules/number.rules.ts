import { applyDecorators } from '@nestjs/common';
import { AMOUNT_MESSAGES, type AmountProblem, amountProblem } from '../../payment/amount.js';
import { rule } from './rule.js';

/**
 * A rule for each thing that can be wrong with an amount. The `currencyCode` beside it says how many decimals it may
 * have.
 */
export function IsAmount(): PropertyDecorator {
  const problems = Object.keys(AMOUNT_MESSAGES) as AmountProblem[];
  return applyDecorators(
    ...problems.map((problem) =>
      rule(problem, AMOUNT_MESSAGES[problem], (value, { currencyCode }: { currencyCode?: unknown }) => {
        const currency = typeof currencyCode === 'number' ? currencyCode : NaN;
        return amountProblem(value, currency) !== problem;
      }),
    ),
  );
}

/** A whole number within bounds; never text. */
export function IsWholeNumber(min: number, max: number): PropertyDecorator {
  return rule(
    'wholeNumber',
    `$property must be a whole number from ${min} to ${max}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
  );
}

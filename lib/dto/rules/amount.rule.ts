import { applyDecorators } from '@nestjs/common';
import { AMOUNT_MESSAGES, type AmountProblem, amountProblem } from '../../payment/amount.js';
import { rule } from './rule.js';

/** A rule for each thing that can be wrong with an amount. How many decimals it may have is said by the `currencyCode` beside it. */
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

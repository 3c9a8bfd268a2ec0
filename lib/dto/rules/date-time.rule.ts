import { rule } from './rule.js';

/** Two digits, two digits, four digits, then HH:mm:ss. Which of the first two is the day, and what separates them, is not shown. */
export function IsDateTimeText(): PropertyDecorator {
  return rule(
    'dateTimeText',
    '$property must be a date and time like 05/02/2025 15:09:09',
    (value) => typeof value === 'string' && /^\d{2}[/.-]\d{2}[/.-]\d{4}[ T]\d{2}:\d{2}:\d{2}$/.test(value),
  );
}

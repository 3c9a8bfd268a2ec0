import { rule } from './rule.js';

export function IsSecurityCode(): PropertyDecorator {
  return rule(
    'securityCode',
    '$property must be 3 or 4 digits, as text',
    (value) => typeof value === 'string' && /^\d{3,4}$/.test(value),
  );
}

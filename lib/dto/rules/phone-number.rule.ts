import { rule } from './rule.js';

export function IsPhoneNumber(): PropertyDecorator {
  return rule(
    'phoneNumber',
    '$property must be a phone number of 7 to 15 digits, perhaps with +, spaces, dashes or brackets',
    (value) => typeof value === 'string' && /^\+?[\d ()-]{7,30}$/.test(value) && hasDigits(value, 7, 15),
  );
}

function hasDigits(text: string, fewest: number, most: number): boolean {
  const count = text.replace(/\D/g, '').length;
  return count >= fewest && count <= most;
}

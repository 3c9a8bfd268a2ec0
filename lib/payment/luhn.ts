/** Whether the last digit is the check digit by Luhn's formula (ISO/IEC 7812-1). */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const isDoubled = (digits.length - index) % 2 === 0;
    const value = Number(digits[index]) * (isDoubled ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** Nineteen digits with something between each two, and room to spare. */
const MAX_SPACED_NUMBER_LENGTH = 64;
// eslint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/**
 * One line of bounded length, without the control characters and lone surrogates that would break logs and stores.
 *
 * @param mask hides digits one for one; it sees a little more than is returned, since a number cut in two cannot be
 *   recognised
 */
export function plainText(text: string, maxLength: number, mask: (line: string) => string = (line) => line): string {
  const line = mask(text.slice(0, maxLength + MAX_SPACED_NUMBER_LENGTH).replace(CONTROL_CHARACTERS, ' '));
  return Buffer.from(line.slice(0, maxLength)).toString();
}

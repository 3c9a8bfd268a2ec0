// eslint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text that cannot steer a terminal: of control characters, only line ends and tabs are left. */
export function printable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, '\uFFFD');
}

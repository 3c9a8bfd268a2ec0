/** What drivers throw without a code. */
const CODES_OF_TEXTS: readonly (readonly [text: RegExp, code: string])[] = [
  [/timeout/i, 'ETIMEDOUT'],
  [/bindings file/, 'ERR_DLOPEN_FAILED'],
  [/directory does not exist/, 'SQLITE_CANTOPEN'],
];

/** The code of whatever a driver threw: an error, but perhaps of another world than this one's `Error`. */
export function codeOf(error: unknown): string {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code)) return code;
  return CODES_OF_TEXTS.find(([text]) => text.test(String(message)))?.[1] ?? '';
}

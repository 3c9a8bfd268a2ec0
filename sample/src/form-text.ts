/** A field of a posted form, trimmed; empty when it is missing, repeated or nested. */
export function formText(form: unknown, name: string): string {
  const value = typeof form === 'object' && form !== null ? (form as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value.trim() : '';
}

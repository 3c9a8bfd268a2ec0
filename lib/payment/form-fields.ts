/** How a parser that does not nest names a nested field: `cardDetails[cardNo]` or `cardDetails.cardNo`. */
const FLAT_NAME = /^([A-Za-z_]\w{0,39})(?:\[([A-Za-z_]\w{0,39})\]|\.([A-Za-z_]\w{0,39}))$/;

/** A form, nested as its names say. */
export interface FormFields {
  readonly fields: Record<string, unknown>;
  /** Fields that were given twice, so that it is not known which value counts. */
  readonly repeated: readonly (readonly [group: string, name: string])[];
  /** Whether there is a name that every object has, such as `__proto__`. */
  readonly isForged: boolean;
}

/**
 * Reads a form from a parsed body, which may be flat (Fastify) or nested (Express). The body is not changed. Fields
 * that are nested deeper stay as they are, and so do fields that also have a value of their own.
 */
export function readForm(body: object): FormFields {
  const fields: Record<string, unknown> = {};
  const flat = new Map<string, Record<string, unknown>>();
  const repeated: [string, string][] = [];
  let isForged = false;
  for (const [name, value] of Object.entries(body)) {
    const [, group = '', inBrackets, afterDot] = FLAT_NAME.exec(name) ?? [];
    const field = inBrackets ?? afterDot;
    if ([name, group, field].some((part) => part !== undefined && part in Object.prototype)) {
      isForged = true;
    } else if (field === undefined) {
      fields[name] = value;
    } else {
      const nested = flat.get(group) ?? {};
      flat.set(group, nested);
      if (Object.hasOwn(body, group) || Object.hasOwn(nested, field)) repeated.push([group, field]);
      nested[field] = value;
    }
  }
  for (const [group, nested] of flat) if (!Object.hasOwn(fields, group)) fields[group] = nested;
  return { fields, repeated, isForged };
}

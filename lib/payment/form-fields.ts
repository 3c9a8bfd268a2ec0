/** What stands for a nested field where a parser does not nest: `cardDetails[cardNo]`, or `cardDetails.cardNo`. */
const FLAT_NAME = /^([A-Za-z_]\w{0,39})(?:\[([A-Za-z_]\w{0,39})\]|\.([A-Za-z_]\w{0,39}))$/;

/** The fields of a form, one object in another where their names say so. */
export interface FormFields {
  readonly fields: Record<string, unknown>;
  /** Given in more than one way: which of them counts cannot be known. */
  readonly repeated: readonly (readonly [group: string, name: string])[];
  /** Names that every object has, such as `__proto__`. */
  readonly isForged: boolean;
}

/**
 * Reads a body that a parser has made, flat (Fastify) or nested (Express), into one form. Only copies are changed; what
 * is nested deeper, and what has a value of its own beside nested ones, stays as it is.
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

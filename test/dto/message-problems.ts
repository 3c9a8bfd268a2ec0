import 'reflect-metadata';
import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';

/** The dotted paths of what is wrong with a message. */
export function problemsOf(type: ClassConstructor<object>, message: object): string[] {
  const paths = (errors: ValidationError[], parent = ''): string[] =>
    errors.flatMap(({ property, constraints, children }) => [
      ...(constraints ? [parent + property] : []),
      ...paths(children ?? [], `${parent}${property}.`),
    ]);
  return paths(validateSync(plainToInstance(type, message), { whitelist: true, forbidNonWhitelisted: true }));
}

/** Sets each field in turn, by dotted path, and names those that were noticed. */
export function noticed(type: ClassConstructor<object>, good: object, values: Record<string, unknown>): string[] {
  return Object.entries(values).flatMap(([path, value]) => {
    const message = structuredClone(good) as Record<string, unknown>;
    const names = path.split('.');
    const owner = names.slice(0, -1).reduce((part, name) => part[name] as Record<string, unknown>, message);
    owner[names.at(-1) ?? ''] = value;
    return problemsOf(type, message);
  });
}

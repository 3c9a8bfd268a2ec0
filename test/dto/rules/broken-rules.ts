import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';

/** The rules that a value breaks as a field of its own message, beside the other fields of that message. */
export function brokenRules(value: unknown, rules: readonly PropertyDecorator[], others: object = {}): string[] {
  class Message {
    field: unknown;
  }
  for (const rule of rules) rule(Message.prototype, 'field');
  const errors = validateSync(plainToInstance(Message, { ...others, field: value }));
  return errors.flatMap(({ constraints = {} }) => Object.keys(constraints));
}

import { applyDecorators } from '@nestjs/common';
import { Transform, type TransformFnParams } from 'class-transformer';
import { IsBoolean } from 'class-validator';
import { saying } from './rule.js';

const TRUE_OR_FALSE = { en: '$property must be true or false', tr: '$property true veya false olmalı' };

/**
 * Reads a field as people type it. It reads the original value, before a host's `enableImplicitConversion` changes it.
 */
export function AsTyped(read: (given: unknown) => unknown): PropertyDecorator {
  return Transform(({ obj, key }: TransformFnParams) => read((obj as Record<string, unknown>)[key]), {
    toClassOnly: true,
  });
}

/** Takes the original value of the field, whatever `enableImplicitConversion` would make of it. */
export function AsGiven(): PropertyDecorator {
  return AsTyped((given) => given);
}

/** true or false and nothing else: with `enableImplicitConversion`, the text `false` would become true. */
export function IsTrueOrFalse(): PropertyDecorator {
  return applyDecorators(AsGiven(), IsBoolean(saying(TRUE_OR_FALSE)));
}

/** Keyboards and copied pages have several kinds of spaces and dashes. */
const BETWEEN_DIGITS = /[\p{Zs}\p{Pd}]/gu;
/** Month and year, separated by a slash, dot or dash, by spaces, or by both. */
const SEPARATED_EXPIRY = /^\p{Zs}*(0?[1-9]|1[0-2])(?:\p{Zs}*[/.\p{Pd}]\p{Zs}*|\p{Zs}+)(?:20)?(\d{2})\p{Zs}*$/u;
/** With nothing between them, the month must have two digits. */
const JOINED_EXPIRY = /^\p{Zs}*(0[1-9]|1[0-2])(?:20)?(\d{2})\p{Zs}*$/u;

/** Removes the spaces and dashes that people type in a card number. Other values are returned unchanged. */
export function readCardNumber(typed: unknown): unknown {
  return typeof typed === 'string' ? typed.replace(BETWEEN_DIGITS, '') : typed;
}

/**
 * Returns `1236` if people type `12/36`, `12 / 36`, `12/2036`, `12-36`, `12.36`, `12 36` or `122036`, and `0136` if
 * they type `1/36`. Everything else is returned unchanged, even `136`, which may be January or a typing mistake.
 */
export function readExpiry(typed: unknown): unknown {
  if (typeof typed !== 'string') return typed;
  const [, month, year] = SEPARATED_EXPIRY.exec(typed) ?? JOINED_EXPIRY.exec(typed) ?? [];
  return month && year ? month.padStart(2, '0') + year : typed;
}

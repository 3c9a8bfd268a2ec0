import type { NextFunction, Request, Response } from 'express';
import { readCookie } from './cookie.js';

export const LANGUAGES = ['tr', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A text in both languages. */
export type Bilingual = Readonly<Record<Language, string>>;

const COOKIE = 'lang';
const A_YEAR_MS = 365 * 86_400_000;

/** The visitor's choice, otherwise the browser's, otherwise Turkish. */
export function languageOf(request: Request): Language {
  const chosen = readCookie(request, COOKIE) ?? request.acceptsLanguages(...LANGUAGES);
  return LANGUAGES.find((language) => language === chosen) ?? 'tr';
}

/** `?lang=en` on any page stores the choice and shows the same page. */
export function switchLanguage(request: Request, response: Response, next: NextFunction): void {
  const chosen = LANGUAGES.find((language) => language === request.query.lang);
  if (request.method !== 'GET' || !chosen) return next();
  // Two slashes would begin the name of a host.
  const url = new URL(request.originalUrl.replace(/^[/\\]+/, '/'), 'http://shop.invalid');
  url.searchParams.delete('lang');
  response.cookie(COOKIE, chosen, { sameSite: 'lax', maxAge: A_YEAR_MS });
  response.redirect(303, url.pathname.replace(/^\/+/, '/') + url.search);
}

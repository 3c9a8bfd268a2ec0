import { preferredLanguage, textLanguage } from '../../lib/runtime/text-language.js';

it.each([
  ['tr', 'tr'],
  ['TR', 'tr'],
  ['tr-TR', 'tr'],
  ['en', 'en'],
  ['de', 'en'],
  ['trv', 'en'],
  ['', 'en'],
])('the texts for %j are in %s', (tag, language) => expect(textLanguage(tag)).toBe(language));

it.each<[string | undefined, string, string]>([
  ['tr-TR,tr;q=0.9,en-US;q=0.8,en;q=0.7', 'en', 'tr'],
  ['en-US,en;q=0.9', 'tr', 'en'],
  ['en;q=0.3, tr;q=0.4', 'en', 'tr'],
  ['de-DE,de;q=0.9,en;q=0.5', 'tr', 'en'],
  ['de,fr;q=0.5', 'tr', 'tr'],
  ['de', 'en', 'en'],
  ['en;q=0', 'tr', 'tr'],
  ['en;q=zero', 'tr', 'tr'],
  ['*', 'tr', 'tr'],
  ['', 'en', 'en'],
  [undefined, 'tr', 'tr'],
  ['"><script>', 'tr', 'tr'],
])('a browser that accepts %j where the shop speaks %s gets %s', (accepted, otherwise, language) => {
  expect(preferredLanguage(accepted, otherwise)).toBe(language);
});

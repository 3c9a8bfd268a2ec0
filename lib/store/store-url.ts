import { SQL_ENGINES } from './sql/engines.js';

/** How the URL of a store may look, for people. */
export const STORE_URL_FORMS: readonly string[] = [
  'memory:',
  ...SQL_ENGINES.map(({ urlForm }) => urlForm),
  'redis://…',
];

/** The kind of store that a URL names, judged by its form alone; null where it names none. */
export function storeKindOf(url: string): 'memory' | 'sql' | 'redis' | null {
  if (url === 'memory:') return 'memory';
  if (/^rediss?:\/\/./.test(url)) return 'redis';
  return /:./.test(url) && SQL_ENGINES.some((engine) => engine.owns(url)) ? 'sql' : null;
}

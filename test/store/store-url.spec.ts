import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { STRONG_TLS } from '../../lib/runtime/network.js';
import { engineOfUrl } from '../../lib/store/sql/engines.js';
import { mysqlAddress, unprotectedMysqlHost } from '../../lib/store/sql/engines/mysql-url.js';
import { openSqlStore } from '../../lib/store/sql/index.js';
import { isShown } from '../../lib/store/sql/errors.js';
import { shownPlace, shownUrl, storeUrlProblem } from '../../lib/store/store-url.js';
import { ExpectedTexts } from '../rigs/expected-texts.js';
import { urlSections } from './secret-urls.js';

const TEXTS = new ExpectedTexts(import.meta.url);
const AUTHORITY = 'test/store/authority of mine.pem';
const VERIFIED = { ...STRONG_TLS, rejectUnauthorized: true, verifyIdentity: true };

describe('the URL of a store', () => {
  test('is of an engine, has a problem, is shown and opened as in urls.txt', async () => {
    const sections: string[] = [];
    for (const { heading, urls } of urlSections()) {
      const facts: string[] = [];
      for (const url of urls) facts.push([url, ...(await factsOf(url))].join('\n  '));
      sections.push([heading, ...facts].join('\n'));
    }
    TEXTS.expect('urls.txt', `${sections.join('\n\n')}\n`);
    TEXTS.expectNoOthers(['urls.txt']);
  });

  /** What is known of a URL; none of it shows its user or password, but the address that a driver gets. */
  async function factsOf(url: string): Promise<string[]> {
    const engine = engineOfUrl(url);
    const refusal = await openSqlStore(url).then(
      () => null,
      (error: unknown) => (isShown(error) ? error.message : 'geheim'),
    );
    if (!engine) expect(refusal).toBe('a SQL store is sqlite:FILE, postgres://…, mysql://… or mariadb://…');
    const facts = [
      engine ? `is of ${engine.name}` : 'is of no SQL store',
      `is shown as ${shownUrl(url)}`,
      ...[shownPlace(url)].filter(Boolean).map((place) => `is at ${place}`),
      ...[storeUrlProblem(url)].filter(Boolean).map((problem) => `is a setting that ${problem}`),
      ...(engine && refusal !== null ? [`cannot be opened: ${refusal}`] : []),
    ];
    expect(facts.filter((fact) => /geheim|\bada\b|heim@|secret/i.test(fact))).toEqual([]);
    const unprotected = engine?.server?.unprotectedHost(url, {}) ?? null;
    if (unprotected !== null) facts.push(`reaches ${unprotected} without verified TLS`);
    return /^(mysql|mariadb)/.test(engine?.name ?? '') ? [...facts, ...addressOf(url)] : facts;
  }

  function addressOf(url: string): string[] {
    try {
      const { ssl, ...address } = mysqlAddress(url);
      return [`gives the driver ${JSON.stringify(address)}${ssl ? ` and TLS ${tlsOf(ssl)}` : ''}`];
    } catch {
      return [];
    }
  }

  function tlsOf(ssl: unknown): string {
    if (isDeepStrictEqual(ssl, VERIFIED)) return 'that is verified by what Node.js trusts';
    const ofFile = isDeepStrictEqual(ssl, { ...VERIFIED, ca: readFileSync(AUTHORITY, 'utf8') });
    return ofFile ? 'that is verified by the file alone' : JSON.stringify(ssl);
  }

  test.each([
    ['mysql://ada@db.example/shop?ssl=true', '0', 'db.example'],
    ['mysql:///shop?socketPath=/run/mysqld.sock', '0', null],
    ['mysql://ada@db.example/shop?ssl=true', '1', null],
  ])('%s, where Node.js looks at no certificate (%s), reaches without verified TLS: %s', (url, value, host) => {
    expect(unprotectedMysqlHost(url, { NODE_TLS_REJECT_UNAUTHORIZED: value })).toBe(host);
  });
});

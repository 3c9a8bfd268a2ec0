import { shownUrl, withoutSecrets } from '../../lib/store/shown-url.js';
import { openSqlStore } from '../../lib/store/sql/index.js';
import { SECRET_URLS } from './secret-urls.js';
import { cpuMs } from '../rigs/cpu-time.js';

test.each(SECRET_URLS)('of %s is shown %s', (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});

test.each(['memory:', 'sqlite:/srv/shop.db', 'sqlite::memory:', 'postgres://db.example:5432'])(
  '%s is shown as it is',
  (url) => {
    expect(shownUrl(url)).toBe(url);
  },
);

test.each(['mysql://ada:ge#heim@db.example:3306/shop', 'postgres://ada:ge/heim@db.example:5432/shop'])(
  'what is wrong with %s is told with an example, which is not hidden',
  async (storeUrl) => {
    const said = await openSqlStore(storeUrl).then(String, ({ message }: Error) => withoutSecrets(message, storeUrl));
    expect(said).toMatch(
      / looks like \w+:\/\/user:password@host:[\d*]+\/database; in its user and password write .* as %2F /,
    );
  },
);

test.each(SECRET_URLS)('nothing of %s is left in what a driver says of it', (url) => {
  const parts = url.split(/[@/?&#= ]/).filter((part) => part.length > 3);
  const said = withoutSecrets(`cannot open ${url}: ${parts.join(' and ')}`, url);
  expect(said).not.toContain('geheim');
});

test('a secret that a driver repeats in lowercase is found, too', () => {
  const url = 'postgres://ada:Geheim99@db.example/shop';
  expect(withoutSecrets('no host Geheim99 (geheim99)', url)).toBe('no host *** (***)');
});

test('a long message is read in a moment, and cut', () => {
  const began = cpuMs();
  for (const text of ['a', '://', 'a://', 'geheim', ' ', '@', 'a:@']) {
    expect(withoutSecrets(text.repeat(65_536), 'postgres://ada:geheim@h/x').length).toBeLessThanOrEqual(500);
  }
  expect(cpuMs() - began).toBeLessThan(1_000);
});

test('a user that is named as the scheme hides nothing', () => {
  const said = 'PostgreSQL has no such database: postgres://…';
  expect(withoutSecrets(said, 'postgres://postgres:postgres@db.example/shop')).toBe(said);
});

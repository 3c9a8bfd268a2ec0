import { unprotectedStoreText } from '../../lib/options/setting-hints.js';

const text = (url: string, environment = {}) => unprotectedStoreText(url, 'PAYMENT_STORE_URL', environment);

test.each([
  'postgres://ada:geheim@db.example/shop',
  'postgresql://postgres/shop',
  'postgres://10.0.0.7/shop',
  'postgres://db.example/shop?sslmode=disable',
  'postgres://db.example/shop?sslmode=no-verify',
  'postgres://db.example/shop?sslmode=allow',
  'postgres://db.example/shop?sslmode=require&uselibpqcompat=true',
  'postgres://db.example/shop?ssl=false',
  'postgres://db.example/shop?ssl=0',
  'postgres:///shop?host=db.example',
  'postgres://localhost/shop?host=db.example',
  'postgres://localhost.db.example/shop',
  'mysql://ada:geheim@db.example/shop',
  'mariadb://ada:geheim@10.0.0.7:3306/shop',
  'mysql://db.example/shop?ssl=false',
  'mysql://[2001:db8::1]/shop',
])('%s is warned of', (url) => {
  expect(text(url)).toMatch(
    /^The connection to the payment store at \S+ is not protected by verified TLS: .*PAYMENT_STORE/,
  );
  expect(text(url)).not.toMatch(/geheim|ada/);
});

test.each([
  'memory:',
  'sqlite:payments.db',
  'postgres://localhost/shop',
  'postgres://LOCALHOST/shop',
  'postgres://127.0.0.1:5432/shop',
  'postgres://[::1]/shop',
  'postgres:///shop',
  'postgres:///shop?host=/run/postgresql',
  'postgres:///shop?host=::1',
  'postgres://%2Frun%2Fpostgresql/shop',
  'postgres://db.example/shop?host=127.0.0.1',
  'postgres://db.example/shop?sslmode=verify-full',
  'postgres://db.example/shop?sslmode=verify-ca',
  'postgres://db.example/shop?sslmode=require',
  'postgres://db.example/shop?sslmode=require&uselibpqcompat=true&sslrootcert=ca.pem',
  'postgres://db.example/shop?sslmode=verify-full&uselibpqcompat=true',
  'postgres://db.example/shop?ssl=true',
  'postgres://db.example/shop?sslrootcert=ca.pem',
  'postgres://db.example/shop?sslnegotiation=direct',
  'mysql://localhost/shop',
  'mariadb://127.0.0.1:3306/shop',
  'mysql://[::1]/shop',
  'mysql:///shop',
  'mysql:///shop?socketPath=/run/mysqld/mysqld.sock',
  'mysql://db.example/shop?ssl=true',
  'mariadb://db.example/shop?ssl=/srv/authority.pem',
  'mysql://shop.localhost/shop',
  'no URL',
])('%s is not', (url) => {
  expect(text(url)).toBeNull();
});

test.each(['postgres://db.example/shop?sslmode=verify-full', 'mysql://db.example/shop?ssl=true'])(
  '%s is warned of where Node looks at no certificate',
  (url) => {
    expect(text(url, { NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toContain('remove NODE_TLS_REJECT_UNAUTHORIZED=0');
    expect(text(url, { NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toBeNull();
  },
);

test.each([
  ['postgres://db.example/shop', 'put sslmode=verify-full in its URL'],
  ['mysql://db.example/shop', 'put ssl=true in its URL'],
  ['mariadb://db.example/shop', 'put ssl=true in its URL'],
])('what protects %s: %s', (url, remedy) => {
  expect(text(url)).toContain(`If the server supports TLS, ${remedy} (PAYMENT_STORE_URL).`);
});

test("pg's own variables count where the URL is silent", () => {
  const url = 'postgres://db.example/shop';
  expect(text(url, { PGSSLMODE: 'verify-full' })).toBeNull();
  expect(text(url, { PGSSLMODE: 'disable' })).not.toBeNull();
  expect(text(`${url}?sslmode=disable`, { PGSSLMODE: 'verify-full' })).not.toBeNull();
  expect(text('postgres:///shop', { PGHOST: 'db.example' })).toContain('db.example');
  expect(text('postgres:///shop', { PGHOST: '/run/postgresql' })).toBeNull();
  expect(text('postgres://localhost/shop', { PGHOST: 'db.example' })).toBeNull();
});

test('a host that may be a part of the password is not shown', () => {
  expect(text('postgres://ada:12?geheim@db.example/shop')).toContain('at another host is');
});

// Stryker cannot change the Lua scripts of the Redis store, which are texts to it. This does: one line at a time, with the
// contract suite and the cases of the scripts on a real server. Each write is sent twice, as by a client that lost the
// first answer.
import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { Redis } from 'ioredis';

/** Changes of a line: what is looked for, and what takes its place. */
const OPERATORS = [
  [/ == /g, ' ~= '],
  [/ ~= /g, ' == '],
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ and /g, ' or '],
  [/ or /g, ' and '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/\bnot /g, ''],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/\b0\b/g, '1'],
  [/\b1\b/g, '0'],
  [/'\(' \.\. /g, ''],
  [/math\.max/g, 'math.min'],
  [/\bif .+? then/g, 'if true then'],
  [/\bif .+? then/g, 'if false then'],
  [/^\s*(?:call|save|remove|write|deliver|enterInSets|add|table\.sort|table\.remove)\(.*\)$/g, ''],
  [/call\('(?:DEL|ZREM|SET|ZADD|HDEL|HSET)'[^()]*(?:\([^()]*\)[^()]*)*\)(?= end| else)/g, ''],
];
/** A case that takes longer hangs; all together take a second or two. */
const CASE_MS = 5_000;

/** @returns {{ line: number, before: string, text: string, changed: string }[]} `before` is the line before, if it is plain Lua */
function changesOf(source) {
  const lines = source.split('\n');
  let isLua = false;
  return lines.flatMap((text, index) => {
    const [wasLua, before] = [isLua, lines[index - 1] ?? ''];
    if ((text.match(/`/g) ?? []).length % 2 === 1) isLua = !isLua;
    const isPlain = wasLua && isLua && !/\$\{|`|^\s*--/.test(text);
    if (!isPlain || text.trim() === '') return [];
    const context = /\$\{|`/.test(before) ? '' : `${before}\n`;
    const changed = OPERATORS.flatMap(([pattern, replacement]) =>
      Array.from(text.matchAll(pattern), ({ 0: found, index: at }) => {
        return text.slice(0, at) + replacement + text.slice(at + found.length);
      }),
    );
    return [...new Set(changed)].map((to) => ({ line: index + 1, before: context, text, changed: to }));
  });
}

/** @returns {Promise<{ files: Record<string, { source: string, mutants: object[] }> }>} as Stryker would say it */
export async function changeLua(file) {
  register('./module-hooks.js', import.meta.url, { data: { root: process.cwd() } });
  await import('reflect-metadata');
  const load = (path) => import(pathToFileURL(resolve(path)).href);
  const { startRedis } = await load('test/services/redis.ts');
  const { RedisPaymentStore } = await load('lib/store/redis/redis-payment-store.ts');
  const { paymentStoreContract } = await load('lib/testing/index.ts');
  const { scriptCases } = await load('test/store/redis/script-cases.ts');
  const server = await startRedis();
  const client = new Redis(server.url);
  let change = null;
  let isUsed = false;
  const changing = new Proxy(client, {
    get(target, name) {
      if (name === 'evalsha') return () => Promise.reject(new Error('NOSCRIPT'));
      if (name === 'eval') return (lua, ...rest) => evaluate(lua, rest);
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  async function evaluate(lua, rest) {
    const from = change && `${change.before}${change.text}`;
    if (from && lua.includes(from)) isUsed = true;
    const script = from ? lua.replaceAll(from, () => `${change.before}${change.changed}`) : lua;
    if (lua.includes('isWritten()')) await client.eval(script, ...rest);
    return client.eval(script, ...rest);
  }
  const source = {
    create: (clock) => Promise.resolve(new RedisPaymentStore(changing, { clock })),
    another: (_store, clock) => Promise.resolve(new RedisPaymentStore(changing, { clock })),
    destroy: () => Promise.resolve(),
  };
  // The case that noticed the last change comes first: changes of one place are often noticed by the same.
  let cases = [
    ...paymentStoreContract.map(({ name, run }) => ({ name, run: () => run(source) })),
    ...scriptCases.map(({ name, run }) => ({ name, run: () => run(changing) })),
  ];
  async function failingCase() {
    for (const one of cases) {
      let timer;
      const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error('hangs')), CASE_MS)));
      try {
        await Promise.race([one.run(), late]);
      } catch (error) {
        cases = [one, ...cases.filter((other) => other !== one)];
        return `${one.name}: ${error.message}`;
      } finally {
        clearTimeout(timer);
      }
    }
    return null;
  }

  const text = readFileSync(file, 'utf8');
  const mutants = [];
  const failure = await failingCase();
  if (failure) throw new Error(`The contract suite fails without any change: ${failure}`);
  for (change of changesOf(text)) {
    isUsed = false;
    const isNoticed = (await failingCase()) !== null;
    process.stdout.write(isNoticed ? '.' : 'S');
    const { line } = change;
    mutants.push({
      location: { start: { line, column: 1 }, end: { line, column: change.text.length + 1 } },
      replacement: change.changed.trim(),
      status: isNoticed ? 'Killed' : isUsed ? 'Survived' : 'NoCoverage',
    });
  }
  process.stdout.write('\n');
  client.disconnect();
  await server.stop();
  return { files: { [file]: { source: text, mutants } } };
}

// Stryker cannot change the Lua scripts of the Redis store, which are texts to it. This does: one line at a time, with the
// contract suite and the cases of the scripts on a real server. Each write is sent twice, as by a client that lost the
// first answer.
import { existsSync, readFileSync } from 'node:fs';
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { Redis } from 'ioredis';
import { resultsFile } from './figures.js';

/** Changes of a line: the text that is replaced, and its replacement. */
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
/** A case that takes longer counts as hung; all cases together take a second or two. */
const CASE_MS = 5_000;

/** A placeholder for what JavaScript inserts into a line. */
const HOLE = '\u0000';

/**
 * @returns {{ line: number, column: number, end: number, before: string, text: string, changed: string }[]} `before` is the line
 *   before, if it is plain Lua; `text` is the line, or the whole of a script that stands in one line between others
 */
function changesOf(source) {
  const lines = source.split('\n');
  let isLua = false;
  return lines.flatMap((whole, index) => {
    const [wasLua, before] = [isLua, lines[index - 1] ?? ''];
    if ((whole.match(/`/g) ?? []).length % 2 === 1) isLua = !isLua;
    const isInside = wasLua && isLua && !/`|^\s*--/.test(whole);
    const [, alone] = (!wasLua && !isLua && !/^\s*\/?\*/.test(whole) && /^[^`]*`([^`]+)`[^`]*$/.exec(whole)) || [];
    const code = isInside ? whole : (alone ?? '');
    const text = code.replace(/\$\{[^}]*\}/g, HOLE);
    const context = !isInside || /\$\{|`/.test(before) ? '' : `${before}\n`;
    const changed = OPERATORS.flatMap(([pattern, replacement]) =>
      Array.from(text.matchAll(pattern), ({ 0: found, index: at }) => {
        return text.slice(0, at) + replacement + text.slice(at + found.length);
      }),
    );
    const column = whole.indexOf(code) + 1;
    const end = column + code.length;
    return [...new Set(changed)].map((to) => ({ line: index + 1, column, end, before: context, text, changed: to }));
  });
}

/** Where a change applies in a script as it is sent, and the changed text. */
function replacing({ before, text, changed }) {
  const escaped = `${before}${text}`.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(HOLE, '(.+?)');
  const to = (...found) => {
    let hole = 0;
    return `${before}${changed}`.replaceAll(HOLE, () => found[(hole += 1)]);
  };
  return { from: new RegExp(escaped, 'g'), to };
}

/** The changes of this file that an earlier run on this machine noticed: only the others are tried again, as by Stryker. */
function noticedBefore(file, text) {
  const path = resultsFile(file);
  const { source, mutants } = (existsSync(path) && JSON.parse(readFileSync(path, 'utf8')).files[file]) || {};
  return source === text ? mutants.filter(({ status }) => status === 'Killed') : [];
}

/** @returns {Promise<{ files: Record<string, { source: string, mutants: object[] }> }>} in Stryker's format */
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
    const { from, to } = change ? replacing(change) : {};
    const script = from ? lua.replace(from, to) : lua;
    if (script !== lua) isUsed = true;
    if (lua.includes('isWritten()')) await client.eval(script, ...rest);
    return client.eval(script, ...rest);
  }
  const source = {
    create: (clock) => Promise.resolve(new RedisPaymentStore(changing, { clock })),
    another: (_store, clock) => Promise.resolve(new RedisPaymentStore(changing, { clock })),
    destroy: () => Promise.resolve(),
  };
  // The case that noticed the last change runs first: it often notices the next change, too.
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
  const earlier = noticedBefore(file, text);
  const mutants = [];
  const failure = await failingCase();
  if (failure) throw new Error(`The contract suite fails without any change: ${failure}`);
  for (change of changesOf(text)) {
    const [line, replacement] = [change.line, change.changed.trim().replaceAll(HOLE, '${…}')];
    const before = earlier.find((one) => one.location.start.line === line && one.replacement === replacement);
    if (before) {
      mutants.push(before);
      continue;
    }
    isUsed = false;
    const isNoticed = (await failingCase()) !== null;
    process.stdout.write(isNoticed ? '.' : 'S');
    mutants.push({
      location: { start: { line, column: change.column }, end: { line, column: change.end } },
      replacement,
      status: isNoticed ? 'Killed' : isUsed ? 'Survived' : 'NoCoverage',
    });
  }
  process.stdout.write('\n');
  client.disconnect();
  await server.stop();
  return { files: { [file]: { source: text, mutants } } };
}

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const JEST = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--listTests'];

it('each file of tests is run by itself or by the room of its folder, and not by both', () => {
  const env = { ...process.env, TESTS: 'whole' };
  const listed = execFileSync(process.execPath, JEST, { env, encoding: 'utf8' }).split('\n');
  const alone = new Set(listed.map((file) => relative('.', file)));
  const specs = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.spec.ts'));
  const files = specs.map((name) => join('test', name));
  expect(files.filter((file) => alone.has(file) === isInRoom(dirname(file)))).toEqual([]);
});

function isInRoom(folder: string): boolean {
  return folder !== '.' && (existsSync(join(folder, 'room.ts')) || isInRoom(dirname(folder)));
}

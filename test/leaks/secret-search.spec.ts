import { type Secret, searchFor } from './secret-search.js';

// Not those of the other suites of this folder: a printed promise leads to the names of its tests.
const SECRETS: readonly Secret[] = [
  { name: 'card', text: '4508034508034509' },
  { name: 'key', text: 'k3y/with+signs=and;more' },
  { name: 'code', text: '481', isWord: true },
  { name: 'expiry', text: '1136', isWord: true },
  { name: 'name', text: 'Işık', isWord: true },
];

describe('the search for secrets', () => {
  it.each([
    ['card', 'x4508034508034509y'],
    ['card', 'no 4508 0345-0803.4509'],
    ['card', "{ cardNo: '4 5 0 8 0 3 4 5 0 8 0 3 4 5 0 9' }"],
    ['key', 'by K3Y/WITH+SIGNS=AND;MORE'],
    ['code', '{"cvv":"481"}'],
    ['code', '(481)'],
    ['expiry', 'exp 11/36,'],
    ['expiry', '1136'],
    ['name', 'for Işık, a'],
  ])('finds the %s in %s', (name, text) => {
    expect(searchFor(SECRETS, [{ source: 'planted', text }]).map(({ secret }) => secret)).toEqual([name]);
  });

  it.each(['B0481', '4810', '11:36:00', '2036-11-36T11:36:00.481Z', '450803******4509', 'Işıklı', 'x_481'])(
    'finds nothing in %s',
    (text) => expect(searchFor(SECRETS, [{ source: 'planted', text }])).toEqual([]),
  );
});

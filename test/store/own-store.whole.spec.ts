import { GuideRecipes } from '../package/guide-recipes.js';

const recipes = new GuideRecipes('docs/own-store.md');

describe('own store', () => {
  afterAll(() => recipes.remove());

  it('has a test of its own', () => expect(contract).toBeDefined());
});

// The page's own test, which is the contract suite. The guide's code is written first.
// eslint-disable-next-line no-restricted-syntax
const contract = await recipes.load('test/document-store.spec.ts');

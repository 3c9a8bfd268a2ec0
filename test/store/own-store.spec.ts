import { GuideRecipes } from '../package/guide-recipes.js';

const recipes = new GuideRecipes('docs/own-store.md');
afterAll(() => recipes.remove());

// The page's own test, which is the contract suite.
await recipes.load('test/document-store.spec.ts');

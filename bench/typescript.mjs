// Lets Node run TypeScript as it stands: `node --import ./bench/typescript.mjs bench/main.ts`.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);

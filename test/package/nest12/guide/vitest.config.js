import { defineConfig } from 'vitest/config';

// As `nest new` writes it, for both kinds of test.
export default defineConfig({ test: { globals: true, root: './', include: ['**/*spec.ts'] } });

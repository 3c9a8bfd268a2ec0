import { describeCrashes } from './crashes.js';
import { sqliteStore } from './sqlite-store.js';

describeCrashes('SQLite', () => Promise.resolve(sqliteStore()));

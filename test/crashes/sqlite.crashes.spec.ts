import { describeCrashes } from './crashes.js';

describeCrashes('SQLite');

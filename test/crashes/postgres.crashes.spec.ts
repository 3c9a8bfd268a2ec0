import { describeCrashes } from './crashes.js';

describeCrashes('PostgreSQL');

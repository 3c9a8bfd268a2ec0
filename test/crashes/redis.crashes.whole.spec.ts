import { describeCrashes } from './crashes.js';

describeCrashes('Redis');

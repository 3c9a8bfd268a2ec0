import { describeCrashes } from './crashes.js';

describeCrashes('MariaDB');

import { describeRaces } from './races.js';

describeRaces('MariaDB');

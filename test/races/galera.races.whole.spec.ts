import { describeRaces } from './races.js';

describeRaces('Galera');

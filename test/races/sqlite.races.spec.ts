import { describeRaces } from './races.js';

describeRaces('SQLite');

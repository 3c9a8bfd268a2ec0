import { describeRaces } from './races.js';

describeRaces('PostgreSQL');

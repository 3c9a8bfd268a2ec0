import { describeRaces } from './races.js';

describeRaces('Redis');

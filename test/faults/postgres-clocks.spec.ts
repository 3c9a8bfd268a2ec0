import { describeClocks } from './clocks.js';

describeClocks('PostgreSQL');

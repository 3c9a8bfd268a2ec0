import { describeClocks } from './clocks.js';

describeClocks('Redis');

import { describeClocks } from './clocks.js';

describeClocks('MariaDB');

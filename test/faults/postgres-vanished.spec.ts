import { POOLS } from './frozen.js';
import { longLimitStore } from './postgres-shops.js';
import { describeVanished } from './vanished.js';

describeVanished('PostgreSQL', longLimitStore, POOLS);

import { POOLS } from './frozen.js';
import { patientStore } from './postgres-shops.js';
import { describeVanished } from './vanished.js';

describeVanished('PostgreSQL', patientStore, POOLS);

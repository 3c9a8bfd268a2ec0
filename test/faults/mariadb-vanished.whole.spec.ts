import { longLimitStore } from './mariadb-shops.js';
import { describeVanished } from './vanished.js';

describeVanished('MariaDB', longLimitStore, ['own']);

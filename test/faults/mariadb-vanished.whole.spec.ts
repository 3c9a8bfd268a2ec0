import { patientStore } from './mariadb-shops.js';
import { describeVanished } from './vanished.js';

describeVanished('MariaDB', patientStore, ['own']);

import '../rigs/load-room.js';
import { keepBrowser } from './shared-browser.js';

keepBrowser();

import { loadRoom } from '../rigs/load-room.js';
import { keepBrowser } from './shared-browser.js';

keepBrowser();
await loadRoom(import.meta.url);

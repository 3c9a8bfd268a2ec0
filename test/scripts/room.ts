import { loadRoom } from '../rigs/load-room.js';

await loadRoom(import.meta.url);

import { loadRoom } from '../../rigs/load-room.js';

// Apart from the other suites: what is printed reaches Jest's own objects, in which names of tests hold card numbers.
await loadRoom(import.meta.url);

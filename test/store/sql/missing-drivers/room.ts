import { loadRoom } from '../../../rigs/load-room.js';

// Apart from the other suites, because the drivers stay missing.
await loadRoom(import.meta.url);

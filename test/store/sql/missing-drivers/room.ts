// Apart from the other suites, because the drivers stay missing.
import '../../../rigs/load-room.js';

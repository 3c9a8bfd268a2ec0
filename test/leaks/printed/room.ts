// Apart from the other suites: what is printed reaches Jest's own objects, in which names of tests hold card numbers.
import '../../rigs/load-room.js';

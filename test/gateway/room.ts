import '../rigs/load-room.js';

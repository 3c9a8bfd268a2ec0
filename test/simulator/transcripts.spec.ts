import { itPlays } from '../rigs/played-scripts.js';
import { ScriptedGateway } from './scripted-gateway.js';

const FILES = ['requests.txt', 'sales.txt', 'bank.txt', 'refunds.txt', 'pages.txt'];

describe('the simulated gateway', () => {
  itPlays(import.meta.url, FILES, (script) => ScriptedGateway.play(script));
});

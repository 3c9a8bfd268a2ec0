import { itPlays, playedText } from '../rigs/played-scripts.js';
import { documentedText } from './documented.js';
import { ScriptedCommands } from './scripted-commands.js';

const FILES = ['typed.txt', 'payments.txt', 'hosted.txt', 'refunds.txt', 'export.txt', 'doctor.txt'];

describe('what commands print', () => {
  itPlays(import.meta.url, FILES, (script) => ScriptedCommands.play(script));

  it.each([
    ['payments list', 'payments.txt'],
    ['payments refund', 'refunds.txt'],
  ])('is what the page shows of %s', (command, file) => {
    const shown = playedText(import.meta.url, file).replaceAll(/^ {4}(?:! )?/gm, '');
    expect(shown).toContain(documentedText(command).trimEnd());
  });
});

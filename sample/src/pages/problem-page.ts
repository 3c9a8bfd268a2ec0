import { html } from '../html.js';
import type { Texts } from '../texts/en.js';
import { TEXTS } from '../texts/texts.js';
import type { Visitor } from '../visitor/visitor.js';
import { layout } from './layout.js';

export type Problem = Exclude<keyof Texts['problem'], 'home'>;

export function problemPage(problem: Problem, visitor: Visitor): string {
  const { problem: texts } = TEXTS[visitor.language];
  const { title, text } = texts[problem];
  const body = html`<h1>${title}</h1>
    <p>${text}</p>
    <p><a class="button" href="/">${texts.home}</a></p>`;
  return layout({ title, body, visitor });
}

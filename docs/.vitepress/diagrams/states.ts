import { instance } from '@viz-js/viz';
import { type LedgerState, PAYMENT_STATES, type StateRow } from '../../../lib/payment/states.js';
import { box, round, svgFile, text } from './svg.js';

const KIND_OF_MONEY = { no: 'no', perhaps: 'perhaps', yes: 'yes' } as const;
const LEGEND = { no: 'no money has moved', perhaps: 'money may have moved', yes: 'money has moved' } as const;
const LEGEND_HEIGHT = 62;

/** The states and who moves a payment from one to the next, from their table. Graphviz finds the places. */
export async function statesPicture(states: readonly LedgerState[]): Promise<string> {
  const viz = await instance();
  const drawn = viz.renderString(graphOf(states), { format: 'svg', engine: 'dot' });
  const [, width = '', height = ''] = /viewBox="\S+ \S+ (\S+) (\S+)"/.exec(drawn) ?? [];
  const graph = /<g id="graph0"[\s\S]*<\/g>/.exec(drawn)?.[0] ?? '';
  const total = Math.max(Number(width) + 24, 560);
  const content = graph
    .replace(/<!--[\s\S]*?-->\s*/g, '')
    .replace(/<title>.*?<\/title>\s*/g, '')
    .replace(/ (?:id|font-family|font-size|font-weight)="[^"]*"/g, '')
    .replace(/&#45;&gt;/g, '')
    // What is filled is a box or the head of an arrow; their classes give the colours.
    .replace(/<polygon fill="white" stroke="none"[^>]*\/>\s*/g, '')
    .replace(/<polygon fill="black"/g, '<polygon class="head"')
    .replace(/ (?:fill|stroke)="[^"]*"/g, '')
    .replace(/<g class="edge">[\s\S]*?<\/g>/g, (edge) =>
      edge.replace('<path', '<path class="arrow"').replace(/<text/g, '<text class="halo small"'),
    )
    .replace(/<g class="node (\w+)">\s*<path/g, '<g class="node"><path class="$1"')
    .replace(/<g class="node start">\s*<ellipse/g, '<g class="node"><ellipse class="brand"')
    .replace(/(-?\d+\.\d{2,})/g, (number) => String(round(Number(number))));
  const left = (total - Number(width)) / 2;
  return svgFile(
    total,
    Number(height) + LEGEND_HEIGHT + 16,
    `<g transform="translate(${round(left)} 8)">\n${content}\n</g>\n${legend(states, Number(height) + 16)}`,
  );
}

function graphOf(states: readonly LedgerState[]): string {
  const factsOf = (state: LedgerState): StateRow => PAYMENT_STATES[state];
  const nodes = states.map((state) => `${state} [class="${KIND_OF_MONEY[factsOf(state).money]}"]`);
  const begun = states.filter((state) => factsOf(state).begunBy !== undefined);
  const first = begun.flatMap((state) => [
    `start_${state} [shape=circle fixedsize=true width=0.14 height=0.14 label="" class="start"]`,
    `start_${state} -> ${state} [label="${factsOf(state).begunBy}"]`,
  ]);
  const arrows = states.flatMap((from) =>
    Object.entries(factsOf(from).to)
      .filter(([to]) => states.includes(to as LedgerState))
      .map(([to, movers]) => {
        // The gateway's answer moves most payments; without its name the others can be read.
        const label = movers.length === 1 && movers[0] === 'gateway' ? '' : movers.join(',\\n');
        return `${from} -> ${to} [label="${label}"]`;
      }),
  );
  return `digraph {
    bgcolor="transparent" nodesep=0.25 ranksep=0.42
    node [shape=box style=rounded fontname=Helvetica fontsize=13 height=0.42 margin="0.12,0.05"]
    edge [fontname=Helvetica fontsize=12 arrowsize=0.75]
    ${[...nodes, ...first, ...arrows].join('\n')}
  }`;
}

function legend(states: readonly LedgerState[], top: number): string {
  const kinds = (['no', 'perhaps', 'yes'] as const).filter((kind) =>
    states.some((state) => PAYMENT_STATES[state].money === kind),
  );
  const unnamed = text(20, top + 46, 'an arrow without a name: the gateway, by its answer', 'small', 'start');
  return [
    ...kinds.map((kind, index) => {
      const x = 20 + index * 186;
      return `${box(x, top + 8, 18, 18, kind, 5)}\n${text(x + 26, top + 21.5, LEGEND[kind], 'small', 'start')}`;
    }),
    unnamed,
  ].join('\n');
}

const LIGHT = {
  paper: '#fdfcfa',
  ink: '#22302d',
  quiet: '#566460',
  line: '#8a9692',
  edge: '#cfd6d2',
  box: '#ffffff',
  no: '#eef1ef',
  brand: '#0b6b5b',
  yes: '#d9f0e6',
  'yes-ink': '#0a5446',
  perhaps: '#fdeccb',
  'perhaps-ink': '#7a4b00',
  stop: '#fbdcd5',
  'stop-ink': '#8c2a17',
};

const DARK: Readonly<Record<keyof typeof LIGHT, string>> = {
  paper: '#1c2120',
  ink: '#e6ebe9',
  quiet: '#a9b5b1',
  line: '#7f8c88',
  edge: '#3d4845',
  box: '#252c2a',
  no: '#2b3331',
  brand: '#5ecbb3',
  yes: '#12453a',
  'yes-ink': '#b6efdf',
  perhaps: '#4d3605',
  'perhaps-ink': '#ffdd97',
  stop: '#54241b',
  'stop-ink': '#ffc3b5',
};

const RULES = `
.diagram text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: var(--ink); }
.diagram .small { font-size: 12px; fill: var(--quiet); }
.diagram .strong { font-weight: 600; }
.diagram .code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12.5px; }
.diagram .halo { stroke: var(--paper); stroke-width: 5px; stroke-linejoin: round; paint-order: stroke; }
.diagram .paper { fill: var(--paper); }
.diagram .box { fill: var(--box); stroke: var(--edge); }
.diagram .lane { stroke: var(--edge); stroke-width: 1.5; }
.diagram .arrow { fill: none; stroke: var(--line); stroke-width: 1.5; }
.diagram .answer { stroke-dasharray: 5 4; }
.diagram .head { fill: var(--line); }
.diagram .brand { fill: var(--brand); }
.diagram .brand-line { fill: none; stroke: var(--brand); stroke-width: 2; }
${['no', 'yes', 'perhaps', 'stop']
  .map((name) => {
    const ink = name === 'no' ? 'var(--ink)' : `var(--${name}-ink)`;
    return `.diagram .${name} { fill: var(--${name}); stroke: ${name === 'no' ? 'var(--edge)' : 'none'}; }
.diagram text.on-${name} { fill: ${ink}; }`;
  })
  .join('\n')}
`.trim();

/** In a file of its own, a diagram follows the reader's system. */
export const FILE_STYLES = `.diagram { ${variables(LIGHT)} }
@media (prefers-color-scheme: dark) { .diagram { ${variables(DARK)} } }
${RULES}`;

/** In a page of the site it follows the page, whose reader may have chosen otherwise. */
export const SITE_STYLES = `.diagram { ${variables(LIGHT)} }
.dark .diagram { ${variables(DARK)} }
${RULES}`;

function variables(colours: Readonly<Record<string, string>>): string {
  return Object.entries(colours)
    .map(([name, colour]) => `--${name}: ${colour};`)
    .join(' ');
}

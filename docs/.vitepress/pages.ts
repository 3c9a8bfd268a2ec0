import { existsSync } from 'node:fs';

/** A group of pages in the sidebar. */
export interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
}

export interface Page {
  /** From the root of the repository, as in `docs/refunds.md`. */
  readonly file: string;
  /** In the sidebar; it may be shorter than the heading of the page. */
  readonly name: string;
}

/** The guide in the order in which it is read. Every page of the site is in one of these lists, once. */
export const GUIDE: readonly Section[] = [
  section('Begin', {
    'docs/getting-started.md': 'Getting started',
    'docs/morpos.md': 'MorPOS: from the panel to .env',
    'docs/ways-to-pay.md': 'Which way to take cards',
    'docs/limits.md': 'What this does not do',
  }),
  section('Take payments', {
    'docs/three-d-secure.md': '3D Secure',
    'docs/forms.md': 'Forms and pages',
    'docs/instalments.md': 'Instalments',
    'docs/callback.md': 'The callback',
    'docs/refunds.md': 'Refunds',
    'docs/accounting.md': 'Accounting',
  }),
  section('Know the outcome', {
    'docs/events.md': 'Events',
    'docs/errors.md': 'Errors and states',
    'docs/orders.md': 'Orders and payments',
  }),
  section('Set up', {
    'docs/configuration.md': 'Configuration',
    'docs/stores.md': 'Stores and retention',
    'docs/accounts.md': 'Several accounts',
    'docs/hosts.md': 'Other hosts',
    'docs/vendure.md': 'Vendure',
  }),
  section('Test and go live', {
    'docs/testing.md': 'Testing your shop',
    'docs/go-live.md': 'Go-live checklist',
    'docs/deploying.md': 'Deploying',
    'SECURITY.md': 'Security and PCI DSS',
  }),
  section('Operate', {
    'docs/operating.md': 'Operating',
    'docs/desk.md': 'The desk',
    'docs/troubleshooting.md': 'Troubleshooting',
    'docs/upgrading.md': 'Upgrading',
    'docs/observability.md': 'Observability',
    'docs/fail-over.md': 'Fail-over',
    'docs/command-line.md': 'Command line',
  }),
  section('Background', {
    'docs/interface.md': 'The service’s interface',
    'docs/unverified.md': 'What is unverified',
    'CHANGELOG.md': 'Changelog',
  }),
];

/** For those who change the module, or want to know why it may be trusted. */
export const INTERNALS: readonly Section[] = [
  section('How it works', {
    'docs/internals/architecture.md': 'Architecture',
  }),
  section('How it is measured', {
    'docs/internals/performance.md': 'Performance',
    'docs/internals/capacity.md': 'Capacity',
  }),
  section('How to change it', { 'CONTRIBUTING.md': 'Contributing' }),
];

export const TURKISH: readonly Section[] = [
  section('Kılavuz', {
    'docs/tr/getting-started.md': 'Başlangıç',
    'docs/tr/morpos.md': 'MorPOS: panelden .env’ye',
    'docs/tr/ways-to-pay.md': 'Ödeme yöntemleri',
    'docs/tr/three-d-secure.md': '3D Secure',
    'docs/tr/refunds.md': 'İade ve iptal',
    'docs/tr/errors.md': 'Hatalar ve yapılması gerekenler',
    'docs/tr/go-live.md': 'Canlıya geçiş listesi',
    'docs/tr/deploying.md': 'Sunucuya kurulum',
    'docs/tr/desk.md': 'Masa: ekibiniz için sayfalar',
    'docs/tr/troubleshooting.md': 'Sorun giderme',
    'docs/tr/upgrading.md': 'Sürüm yükseltme',
  }),
];

const LISTED = [...GUIDE, ...INTERNALS, ...TURKISH].flatMap(({ pages }) => pages.map(({ file }) => file));

/** Every page of the repository that the site has; the reference comes on top. */
export const SITE_FILES: readonly string[] = ['docs/index.md', 'docs/tr/index.md', ...LISTED];

/** Pages in docs/ that are read on GitHub alone: the site has start pages in the place of the READMEs. */
export const ONLY_ON_GITHUB: readonly string[] = ['docs/README.tr.md'];

/** The page of the site that a file of the repository becomes, such as `refunds.md`; null if it becomes none. */
export function sitePageOf(file: string): string | null {
  if (!SITE_FILES.includes(file)) return null;
  return file.replace(/^docs\//, '').toLowerCase();
}

/** The address of a page within the site. */
export function linkTo(file: string | undefined): string | undefined {
  return file === undefined ? undefined : `/${sitePageOf(file)?.replace(/\.md$/, '') ?? ''}`;
}

/** The same sections with those pages that exist. */
export function written(sections: readonly Section[]): readonly Section[] {
  return sections
    .map(({ title, pages }) => ({ title, pages: pages.filter(({ file }) => existsSync(file)) }))
    .filter(({ pages }) => pages.length > 0);
}

function section(title: string, names: Readonly<Record<string, string>>): Section {
  return { title, pages: Object.entries(names).map(([file, name]) => ({ file, name })) };
}

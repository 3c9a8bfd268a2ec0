import { cpSync, existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig, type HeadConfig } from 'vitepress';
import { SITE_STYLES } from './diagrams/palette.js';
import { markdownOptions } from './markdown.js';
import { writeMarkdown } from './markdown-pages.js';
import { ENGLISH, TURKISH_TEXTS, TURKISH_SEARCH } from './locales.js';
import { ONLY_ON_GITHUB, SITE_FILES, sitePageOf } from './pages.js';

const REPOSITORY = 'https://github.com/nestjs-card-payment/nestjs-card-payment';
const BASE = '/nestjs-card-payment/';
const ADDRESS = `https://nestjs-card-payment.github.io${BASE}`;
const NAME = 'nestjs-card-payment';
const DESCRIPTION = 'Card payments for NestJS: direct and 3D Secure, charged at most once, no outcome lost.';
/** Where typedoc puts the pages of the reference, and this the finished site; see typedoc.json. */
const BUILT = 'site';
const PUBLIC = resolve('docs/.vitepress/public');

/** Translations are offered once there is a first page to begin with. */
const HAS_TURKISH = existsSync('docs/tr/getting-started.md');

/** Pages are named one by one; the rest of the repository is none of the site's. */
const OTHERS = readdirSync('.', { withFileTypes: true }).flatMap((entry) => {
  if (entry.isDirectory()) return ['docs', BUILT].includes(entry.name) ? [] : [`${entry.name}/**`];
  return entry.name.endsWith('.md') && !SITE_FILES.includes(entry.name) ? [entry.name] : [];
});

const TURKISH_LOCALE = {
  label: 'Türkçe',
  lang: 'tr',
  link: '/tr/',
  description: 'NestJS için 3D’siz ve 3D Secure kartla ödeme: en çok bir kez çekim, kaybolmayan sonuçlar.',
  themeConfig: TURKISH_TEXTS,
};

const markdownLink = (page: string): HeadConfig => [
  'link',
  { rel: 'alternate', type: 'text/markdown', href: `${BASE}${page}` },
];

export default defineConfig({
  title: NAME,
  description: DESCRIPTION,
  base: BASE,
  // The root of the repository, since some pages are there.
  srcDir: '..',
  srcExclude: [...OTHERS, ...ONLY_ON_GITHUB, `${BUILT}/html/**`, ...(HAS_TURKISH ? [] : ['docs/tr/**'])],
  rewrites: (file) => sitePageOf(file) ?? file.replace(`${BUILT}/`, ''),
  outDir: `../${BUILT}/html`,
  cacheDir: `../${BUILT}/cache`,
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  metaChunk: true,
  sitemap: { hostname: ADDRESS },
  vite: { publicDir: PUBLIC },
  buildEnd(site) {
    cpSync(PUBLIC, site.outDir, { recursive: true });
    writeMarkdown({ name: NAME, description: DESCRIPTION, address: ADDRESS, repository: REPOSITORY }, site);
    site.logger.info(`The site is in ${BUILT}/html. To look at it: npx vitepress preview docs`);
  },
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${BASE}logo.svg` }],
    ['meta', { name: 'theme-color', content: '#0b6b5b' }],
    ['meta', { property: 'og:type', content: 'website' }],
    ['meta', { property: 'og:site_name', content: NAME }],
    ['meta', { property: 'og:image', content: `${ADDRESS}social.png` }],
    ['meta', { property: 'og:image:alt', content: DESCRIPTION }],
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
    ['style', {}, SITE_STYLES],
  ],
  transformHead: ({ pageData, title, description }) => [
    ['meta', { property: 'og:title', content: title }],
    ['meta', { property: 'og:description', content: description }],
    ['meta', { property: 'og:url', content: `${ADDRESS}${pageData.relativePath.replace(/(?:index)?\.md$/, '')}` }],
    ...(pageData.isNotFound ? [] : [markdownLink(pageData.relativePath)]),
  ],
  markdown: markdownOptions(REPOSITORY),
  locales: {
    root: { label: 'English', lang: 'en', themeConfig: ENGLISH },
    ...(HAS_TURKISH && { tr: TURKISH_LOCALE }),
  },
  themeConfig: {
    logo: '/logo.svg',
    socialLinks: [{ icon: 'github', link: REPOSITORY, ariaLabel: 'GitHub' }],
    search: {
      provider: 'local',
      options: {
        locales: { tr: TURKISH_SEARCH },
        // With what stands around the word that was found.
        detailedView: true,
        // Someone who looks for refunds wants the page about them, not a property of that name.
        miniSearch: {
          searchOptions: { boostDocument: (id: unknown) => (String(id).includes('/reference/') ? 0.3 : 1) },
        },
      },
    },
    externalLinkIcon: false,
  },
});

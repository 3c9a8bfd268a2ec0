import { existsSync, readFileSync } from 'node:fs';
import type { DefaultTheme } from 'vitepress';
import { GUIDE, INTERNALS, linkTo, type Section, TURKISH, written } from './pages.js';

const REPOSITORY = 'https://github.com/nestjs-card-payment/nestjs-card-payment';

export const ENGLISH: DefaultTheme.Config = {
  nav: [
    { text: 'Guide', link: '/getting-started', activeMatch: '^/(?!reference|internals|contributing|tr/|$)' },
    { text: 'API', link: '/reference/', activeMatch: '^/reference' },
    { text: 'Internals', link: '/internals/architecture', activeMatch: '^/(internals|contributing)' },
  ],
  sidebar: {
    '/': sidebarOf(GUIDE),
    '/internals/': sidebarOf(INTERNALS),
    '/contributing': sidebarOf(INTERNALS),
    '/reference/': referenceSidebar(),
  },
  outline: { level: [2, 3], label: 'On this page' },
  editLink: { pattern: `${REPOSITORY}/edit/main/:path`, text: 'Edit this page on GitHub' },
  darkModeSwitchLabel: 'Dark or light',
  i18nRouting: false,
  langMenuLabel: 'Change language',
  notFound: {
    title: 'There is no such page',
    quote: 'It may have moved. The search at the top knows every page.',
    linkText: 'To the start page',
    linkLabel: 'To the start page',
  },
  footer: { message: 'Released under the MIT licence. No cookies, no tracking.' },
};

export const TURKISH_TEXTS: DefaultTheme.Config = {
  nav: [
    { text: 'Kılavuz', link: linkTo(written(TURKISH)[0]?.pages[0]?.file) ?? '/tr/', activeMatch: '^/tr/.' },
    { text: 'API (İngilizce)', link: '/reference/' },
  ],
  sidebar: { '/tr/': sidebarOf(TURKISH) },
  outline: { level: [2, 3], label: 'Bu sayfada' },
  editLink: { pattern: `${REPOSITORY}/edit/main/:path`, text: 'Bu sayfayı GitHub’da düzenle' },
  docFooter: { prev: 'Önceki sayfa', next: 'Sonraki sayfa' },
  darkModeSwitchLabel: 'Açık ya da koyu tema',
  lightModeSwitchTitle: 'Açık temaya geç',
  darkModeSwitchTitle: 'Koyu temaya geç',
  sidebarMenuLabel: 'Menü',
  returnToTopLabel: 'Sayfa başına dön',
  langMenuLabel: 'Dili değiştir',
  skipToContentLabel: 'İçeriğe geç',
  i18nRouting: false,
  notFound: {
    title: 'Böyle bir sayfa yok',
    quote: 'Taşınmış olabilir. Yukarıdaki arama kutusuyla bulabilirsiniz.',
    linkText: 'Ana sayfaya dön',
    linkLabel: 'Ana sayfaya dön',
  },
  footer: { message: 'MIT lisansıyla sunulur. Çerez ve izleme yoktur.' },
};

export const TURKISH_SEARCH: Partial<DefaultTheme.LocalSearchOptions> = {
  translations: {
    button: { buttonText: 'Ara', buttonAriaLabel: 'Ara' },
    modal: {
      displayDetails: 'Ayrıntılı liste',
      resetButtonTitle: 'Aramayı temizle',
      backButtonTitle: 'Aramayı kapat',
      noResultsText: 'Sonuç bulunamadı:',
      footer: {
        selectText: 'seç',
        selectKeyAriaLabel: 'Enter tuşu',
        navigateText: 'gezin',
        navigateUpKeyAriaLabel: 'yukarı ok',
        navigateDownKeyAriaLabel: 'aşağı ok',
        closeText: 'kapat',
        closeKeyAriaLabel: 'Escape tuşu',
      },
    },
  },
};

function sidebarOf(sections: readonly Section[]): DefaultTheme.SidebarItem[] {
  return written(sections).map(({ title, pages }) => ({
    text: title,
    items: pages.map(({ file, name }) => ({ text: name, link: linkTo(file)! })),
  }));
}

/** What typedoc has written; nothing while the site is built without the reference. */
function referenceSidebar(): DefaultTheme.SidebarItem[] {
  const file = 'site/reference/typedoc-sidebar.json';
  const tree = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DefaultTheme.SidebarItem[]) : [];
  return tree.flatMap((main) => [
    moduleItem(main, `${main.text}`),
    ...(main.items ?? []).filter(({ link }) => link).map((module) => moduleItem(module, `${main.text}/${module.text}`)),
  ]);
}

/** One module with its classes and interfaces. */
function moduleItem(module: DefaultTheme.SidebarItem, text: string): DefaultTheme.SidebarItem {
  const kinds = module.items?.filter(({ link }) => !link);
  // A group without a link would be a button around a button, which screen readers cannot tell apart.
  const items = kinds?.map((kind) => ({ ...kind, link: `${module.link}#${kind.text?.toLowerCase()}` }));
  return { ...module, text, items };
}

import { type DefaultTheme as Theme, useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './style.css';

/** The theme's own page for what is not there has no main landmark. */
function NotFound() {
  const { theme, localeIndex } = useData<Theme.Config>();
  const { title, quote, linkText } = theme.value.notFound ?? {};
  const start = withBase(localeIndex.value === 'root' ? '/' : `/${localeIndex.value}/`);
  return h('main', { class: 'not-found' }, [h('h1', title), h('p', quote), h('p', h('a', { href: start }, linkText))]);
}

/** The same page for language models, and for those who copy it. */
function AsMarkdown() {
  const { page, localeIndex } = useData();
  const text = localeIndex.value === 'tr' ? 'Bu sayfa Markdown olarak' : 'This page as Markdown';
  return h(
    'p',
    { class: 'as-markdown' },
    h('a', { href: withBase(`/${page.value.relativePath}`), target: '_self' }, text),
  );
}

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound), 'doc-footer-before': () => h(AsMarkdown) }),
};

import { Html, html } from '../runtime/html.js';

export type PageLanguage = 'tr' | 'en';

const GO_ON: Readonly<Record<PageLanguage, string>> = { tr: 'Devam et', en: 'Continue' };

export function languageOf(text: string | null | undefined): PageLanguage {
  return text === 'en' ? 'en' : 'tr';
}

/** Links to the same page in both languages. */
export function languageNav(address: string, current: PageLanguage): Html {
  const link = (language: PageLanguage) => {
    const mark = language === current ? new Html('aria-current="true"') : null;
    return html`<a href="${address}?lang=${language}" lang="${language}" ${mark}>${language.toUpperCase()}</a>`;
  };
  return html`<nav>${link('tr')}${link('en')}</nav>`;
}

/** A page with one sentence. */
export function noticePage(language: PageLanguage, message: string): string {
  return page(language, message, html`<main class="card"><h1 class="message">${message}</h1></main>`);
}

/** A form that submits itself, and a button for browsers without scripts. */
export function postingPage(
  language: PageLanguage,
  action: string,
  fields: Readonly<Record<string, string>>,
  message: string,
): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return page(
    language,
    message,
    html`<main class="card">
      <h1 class="message">${message}</h1>
      <form method="post" action="${action}">
        ${inputs}
        <div class="buttons"><button class="primary">${GO_ON[language]}</button></div>
      </form>
      <script>
        document.forms[0].submit();
      </script>
    </main>`,
  );
}

export function page(language: PageLanguage, title: string, body: Html): string {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <link rel="icon" href="data:," />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${STYLE}
        </style>
      </head>
      <body>
        ${body}
      </body>
    </html> `.text;
}

const STYLE = new Html(`
:root { color-scheme: light dark; --page: #eef2f8; --card: #fff; --tint: #f6f8fc; --ink: #14213d; --soft: #5b6782;
  --line: #dde3ee; --field: #7d8aa5; --brand: #12498f; --fill: #12498f; --bad: #b3261e; --note: #7a5200;
  --note-tint: #fffaf0; --badge: #fff3cd; --focus: #1d6fd1; }
@media (prefers-color-scheme: dark) { :root { --page: #0d131f; --card: #161e2e; --tint: #1d273a; --ink: #e9eef8;
  --soft: #a9b5cc; --line: #2c384f; --field: #7585a3; --brand: #93c0f7; --fill: #1d5eb3; --bad: #ffa198;
  --note: #f0c768; --note-tint: #272010; --badge: #3a2f10; --focus: #8bb8f0; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 16px; background: var(--page);
  color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
.card { width: 100%; max-width: 440px; background: var(--card); border: 1px solid var(--line); border-radius: 14px;
  padding: 24px; box-shadow: 0 10px 30px rgb(20 33 61 / 8%); }
header { display: flex; justify-content: space-between; align-items: center; padding-bottom: 16px;
  border-bottom: 1px solid var(--line); }
.bank { display: flex; align-items: center; gap: 10px; font-weight: 700; color: var(--brand); }
.logo { width: 28px; height: 28px; border-radius: 8px; background: linear-gradient(135deg, #12498f 50%, #3f8ae0 50%); }
nav { display: flex; gap: 4px; }
nav a { padding: 4px 10px; border-radius: 999px; font-size: 13px; font-weight: 600; color: var(--soft);
  text-decoration: none; }
nav a[aria-current] { background: var(--fill); color: #fff; }
.badge { display: inline-block; margin: 16px 0 0; padding: 2px 10px; border-radius: 999px; background: var(--badge);
  color: var(--note); font-size: 13px; font-weight: 600; }
h1 { margin: 8px 0 4px; font-size: 22px; line-height: 1.25; }
p { margin: 0 0 16px; color: var(--soft); }
dl { display: grid; grid-template-columns: auto 1fr; gap: 8px 16px; margin: 0 0 20px; padding: 16px;
  background: var(--tint); border-radius: 10px; }
dt { color: var(--soft); }
dd { margin: 0; text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.amount { font-weight: 700; }
label { display: block; margin-bottom: 6px; font-weight: 600; }
input, select { width: 100%; padding: 12px; border: 1px solid var(--field); border-radius: 10px;
  background: var(--card); color: inherit; font: inherit; }
#code { font-size: 20px; letter-spacing: 8px; text-align: center; }
[aria-invalid] { border-color: var(--bad); }
.fields { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; }
.error + .fields, h1 + dl { margin-top: 16px; }
.wide { grid-column: 1 / -1; }
.error { margin: 8px 0 0; color: var(--bad); }
.buttons { display: flex; gap: 12px; margin: 16px 0 0; }
button { flex: 1; padding: 12px; border: 1px solid var(--field); border-radius: 10px; background: var(--card);
  color: var(--ink); font: inherit; font-weight: 600; cursor: pointer; }
button.primary { background: var(--fill); border-color: var(--fill); color: #fff; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.hint { margin: 20px 0 0; padding: 10px 14px; border: 1px dashed #b98f22; border-radius: 10px;
  background: var(--note-tint); color: var(--note); font-size: 14px; }
.hint code { font-size: 15px; font-weight: 700; }
.hint ul { margin: 4px 0 0; padding: 0; list-style: none; }
@media (max-width: 420px) { .card { padding: 18px; } dl { padding: 12px; gap: 6px 12px; font-size: 14px; } }
.message { margin: 0; color: var(--ink); font-size: 17px; font-weight: 400; line-height: 1.5; text-align: center; }
`);

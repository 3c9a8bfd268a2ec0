/** The style of the pages, light and dark, for narrow screens first. */
export const STYLE = `:root { color-scheme: light dark; --page: #f2f4f8; --card: #fff; --ink: #17202f; --soft: #566075;
  --line: #d8dee9; --field: #76819a; --link: #12498f; --fill: #12498f; --good: #14663a; --bad: #a3211a; --wait: #7a4b00;
  --good-tint: #e3f4ea; --bad-tint: #fdeceb; --wait-tint: #fff1d6; --focus: #1d6fd1; }
@media (prefers-color-scheme: dark) { :root { --page: #0d131f; --card: #161e2e; --ink: #e9eef8; --soft: #a9b5cc;
  --line: #2c384f; --field: #7585a3; --link: #93c0f7; --fill: #1d5eb3; --good: #8fdcb0; --bad: #ffa198; --wait: #f5c76b;
  --good-tint: #12301f; --bad-tint: #3a1614; --wait-tint: #35270b; --focus: #8bb8f0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 0 1rem 2rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
main:focus { outline: none; }
.unseen { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: center; padding: .75rem 0; }
.brand { margin: 0; font-weight: 700; }
nav { display: flex; flex-wrap: wrap; gap: 1rem; }
nav a { padding: .35rem 0; }
nav [aria-current] { color: inherit; font-weight: 700; text-decoration: none; }
footer { padding-top: 1rem; color: var(--soft); font-size: .9rem; }
h1 { margin: .5rem 0; font-size: 1.6rem; line-height: 1.25; }
h2 { margin: 0 0 .75rem; font-size: 1.15rem; }
p { margin: 0 0 .75rem; }
.soft, time { color: var(--soft); }
section, .card, .notice { margin: 0 0 1rem; padding: 1rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .6rem; }
.notice { border-left: .4rem solid var(--good); }
.notice.bad { border-left-color: var(--bad); }
.notice p { margin: 0; }
.state { display: inline-block; padding: 0 .6rem; border-radius: 1rem; background: var(--wait-tint); color: var(--wait);
  font-size: .85rem; font-weight: 600; white-space: nowrap; vertical-align: middle; }
.state.succeeded { background: var(--good-tint); color: var(--good); }
.state.failed, .state.expired { background: var(--bad-tint); color: var(--bad); }
ul, ol { margin: 0; padding: 0; list-style: none; }
li + li { border-top: 1px solid var(--line); }
li { padding: .6rem 0; }
.row { display: flex; flex-wrap: wrap; gap: .1rem .9rem; align-items: center; }
.row time { margin-left: auto; }
.story li { padding-left: 1rem; border-left: .2rem solid var(--line); }
.story .new { border-left-color: var(--bad); }
.story p, .row p { margin: 0; }
dl { display: grid; grid-template-columns: fit-content(45%) 1fr; gap: .35rem 1rem; margin: 0 0 .75rem; }
dt { color: var(--soft); }
dd { margin: 0; font-variant-numeric: tabular-nums; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; margin-bottom: 1rem; overflow-wrap: normal; }
th, td { padding: .3rem .5rem .3rem 0; text-align: left; font-weight: 400; font-variant-numeric: tabular-nums; }
th:first-child { width: 38%; }
thead th { color: var(--soft); font-size: .9rem; }
td svg { display: block; width: 100%; height: .8rem; fill: var(--fill); }
form { margin: 0 0 .75rem; }
label { display: block; margin: 0 0 .75rem; font-weight: 600; }
input:not([type=hidden]), select { display: block; width: 100%; max-width: 30rem; padding: .6rem; font: inherit;
  color: inherit; background: var(--card); border: 1px solid var(--field); border-radius: .5rem; }
button { padding: .6rem 1rem; margin: 0 .5rem .5rem 0; font: inherit; font-weight: 600; color: var(--ink);
  background: var(--card); border: 1px solid var(--field); border-radius: .5rem; cursor: pointer; }
button.primary { background: var(--fill); border-color: var(--fill); color: #fff; }
details { border-top: 1px solid var(--line); padding: .6rem 0; }
summary { cursor: pointer; font-weight: 600; color: var(--link); }
details[open] summary { margin-bottom: .6rem; }
.search { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; }
.search label { flex: 1 1 14rem; margin: 0; }
@media (min-width: 52rem) { .beside { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; align-items: start; } }
`;

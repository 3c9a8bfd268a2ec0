import { type Html, html } from '../html.js';

/** Drawings in code, so that the shop needs no image files. */

export const cup = picture(
  '#f3e6d8',
  html`<ellipse cx="120" cy="150" rx="82" ry="9" fill="#e2d0bb" />
    <ellipse cx="120" cy="141" rx="70" ry="12" fill="#cdb498" />
    <ellipse cx="120" cy="137" rx="70" ry="11" fill="#efe0cc" />
    <ellipse cx="120" cy="136" rx="40" ry="5" fill="#dcc6aa" />
    <path d="M158 84c30-6 32 36-10 36" fill="none" stroke="#a94e2c" stroke-width="9" stroke-linecap="round" />
    <path d="M72 72h96c1 36-13 65-48 65S71 108 72 72z" fill="#c4653f" />
    <path d="M72 72h22c-2 30 4 52 18 64-30-4-41-31-40-64z" fill="#b3562f" />
    <ellipse cx="120" cy="72" rx="48" ry="10" fill="#d98258" />
    <ellipse cx="120" cy="73" rx="41" ry="7.5" fill="#3d2418" />
    <path
      d="M106 52c-7-9 7-14 0-24M126 52c-7-9 7-14 0-24"
      fill="none"
      stroke="#cfb79e"
      stroke-width="4"
      stroke-linecap="round"
    />`,
);

export const bowl = picture(
  '#e3ece6',
  html`<ellipse cx="120" cy="151" rx="62" ry="8" fill="#cbd9d0" />
    <path d="M96 140h48l-5 12h-38z" fill="#4f7d70" />
    <path d="M44 84h152c0 38-30 61-76 61S44 122 44 84z" fill="#6c9e8f" />
    <path d="M44 84h30c4 36 22 53 46 61-46 0-76-23-76-61z" fill="#5d8f80" />
    <path d="M46 98c40 14 108 14 148 0-1 5-2 9-4 13-40 12-100 12-140 0-2-4-3-8-4-13z" fill="#86b5a5" />
    <ellipse cx="120" cy="84" rx="76" ry="17" fill="#8fbdae" />
    <ellipse cx="120" cy="86" rx="66" ry="13" fill="#41695e" />
    <path d="M62 90c18 10 98 10 116 0-12 12-104 12-116 0z" fill="#36594f" />`,
);

export const teapot = picture(
  '#f5e9c9',
  html`<ellipse cx="118" cy="152" rx="70" ry="8" fill="#e5d3a3" />
    <path d="M62 84c-40-10-46 52 6 46" fill="none" stroke="#2d4a5c" stroke-width="10" stroke-linecap="round" />
    <path d="M164 122c24-4 24-38 44-46l8 10c-14 10-14 46-46 58z" fill="#355a70" />
    <ellipse cx="118" cy="110" rx="62" ry="42" fill="#3f6a83" />
    <path d="M118 152c-36 0-62-18-62-42s26-42 62-42c-30 10-42 26-42 44s14 32 42 40z" fill="#355a70" />
    <ellipse cx="118" cy="72" rx="34" ry="8" fill="#2d4a5c" />
    <path d="M86 70c4-18 60-18 64 0-14 7-50 7-64 0z" fill="#4b7b97" />
    <circle cx="118" cy="50" r="8" fill="#d9a441" />
    <path d="M136 84c16 4 26 12 28 22" fill="none" stroke="#7ba6bd" stroke-width="5" stroke-linecap="round" />`,
);

export const plate = picture(
  '#e9e2ee',
  html`<ellipse cx="120" cy="104" rx="96" ry="58" fill="#d5cadd" />
    <ellipse cx="120" cy="96" rx="96" ry="58" fill="#fbf8f2" />
    <ellipse cx="120" cy="95" rx="94" ry="56" fill="none" stroke="#b08968" stroke-width="2.5" />
    <ellipse cx="120" cy="99" rx="66" ry="38" fill="#efe9df" />
    <ellipse cx="120" cy="101" rx="64" ry="36" fill="#f8f4ec" />
    <g fill="#8a7460">
      <circle cx="60" cy="80" r="1.8" />
      <circle cx="78" cy="62" r="1.3" />
      <circle cx="104" cy="52" r="1.7" />
      <circle cx="150" cy="54" r="1.4" />
      <circle cx="182" cy="74" r="1.9" />
      <circle cx="196" cy="98" r="1.3" />
      <circle cx="180" cy="124" r="1.7" />
      <circle cx="140" cy="142" r="1.4" />
      <circle cx="92" cy="140" r="1.8" />
      <circle cx="54" cy="116" r="1.3" />
      <circle cx="100" cy="92" r="1.6" />
      <circle cx="134" cy="84" r="1.3" />
      <circle cx="150" cy="108" r="1.7" />
      <circle cx="112" cy="118" r="1.3" />
    </g>`,
);

export const carafe = picture(
  '#dfe6ef',
  html`<ellipse cx="118" cy="160" rx="52" ry="7" fill="#c3cedd" />
    <path d="M140 52c44-6 46 62 12 66" fill="none" stroke="#1f2f50" stroke-width="8" stroke-linecap="round" />
    <path d="M92 22l54 0c-4 34 18 54 18 92 0 32-16 46-46 46s-46-14-46-46c0-38 22-58 20-92z" fill="#2c4270" />
    <path d="M92 22h16c2 36-18 56-18 92 0 28 8 42 24 46-28-1-42-15-42-46 0-38 22-58 20-92z" fill="#233659" />
    <path d="M92 22c-4-6-10-8-14-8 18-6 52-4 68 8z" fill="#3d5a94" />
    <path d="M73 104c28 9 62 9 90 0 2 8 1 15 1 20-28 8-64 8-92 0 0-7 0-13 1-20z" fill="#e8d9b5" />`,
);

export const vase = picture(
  '#e8ead9',
  html`<ellipse cx="120" cy="162" rx="44" ry="6" fill="#d0d4b8" />
    <g fill="none" stroke="#6b7a3f" stroke-width="3" stroke-linecap="round">
      <path d="M120 84C116 56 100 36 84 24" />
      <path d="M122 84c4-24 16-42 36-54" />
    </g>
    <g fill="#7f9150">
      <ellipse cx="104" cy="58" rx="13" ry="5" transform="rotate(-20 104 58)" />
      <ellipse cx="116" cy="44" rx="13" ry="5" transform="rotate(-70 116 44)" />
      <ellipse cx="86" cy="42" rx="13" ry="5" transform="rotate(10 86 42)" />
      <ellipse cx="94" cy="20" rx="13" ry="5" transform="rotate(-60 94 20)" />
      <ellipse cx="144" cy="58" rx="13" ry="5" transform="rotate(12 144 58)" />
      <ellipse cx="134" cy="36" rx="13" ry="5" transform="rotate(80 134 36)" />
      <ellipse cx="164" cy="40" rx="13" ry="5" transform="rotate(10 164 40)" />
      <ellipse cx="154" cy="18" rx="13" ry="5" transform="rotate(100 154 18)" />
    </g>
    <circle cx="110" cy="70" r="4.5" fill="#4d4a2a" />
    <circle cx="136" cy="72" r="4.5" fill="#4d4a2a" />
    <path d="M108 82h26c-2 14 26 22 26 48 0 22-14 32-40 32s-40-10-40-32c0-26 30-34 28-48z" fill="#cf9468" />
    <path d="M108 82h10c0 16-22 24-22 48 0 20 8 28 22 32-24 0-38-10-38-32 0-26 30-34 28-48z" fill="#bd8055" />
    <ellipse cx="121" cy="82" rx="14" ry="3.5" fill="#8a5634" />`,
);

/** A postcard with a stamp of this colour. */
export function postcard(stamp: string): Html {
  return picture(
    '#efece6',
    html`<g transform="rotate(-4 120 90)">
      <rect x="42" y="44" width="156" height="100" rx="4" fill="#d8d2c6" />
      <rect x="40" y="40" width="156" height="100" rx="4" fill="#fffdf8" />
      <path d="M118 56v70" stroke="#d8cfc0" stroke-width="2" />
      <path d="M54 68h48M54 82h50M54 96h38" stroke="#c7bdae" stroke-width="3" stroke-linecap="round" />
      <path d="M132 104h50M132 118h36" stroke="#c7bdae" stroke-width="3" stroke-linecap="round" />
      <rect x="158" y="50" width="28" height="34" rx="2" fill="${stamp}" />
      <circle cx="172" cy="67" r="8" fill="#ffffff80" />
      <path
        d="M134 58c6-5 10 5 16 0M134 66c6-5 10 5 16 0M134 74c6-5 10 5 16 0"
        stroke="#a79c8b"
        stroke-width="2"
        fill="none"
      />
    </g>`,
  );
}

function picture(background: string, drawing: Html): Html {
  return html`<svg class="picture" viewBox="0 0 240 180" aria-hidden="true" focusable="false">
    <rect width="240" height="180" fill="${background}" />
    ${drawing}
  </svg>`;
}

import { buyerPage, type PageName } from '../../lib/http/pages.js';

const KINDS: PageName[] = ['success', 'failure', 'pending', 'refused', 'reload'];
const PAID = /was successful|başarıyla tamamlandı/;
const NOT_PAID = /No money was taken|para çekilmedi/;
const DO_NOT_REPEAT = /do not pay again|yeniden ödeme yapmayın/;

describe.each(['en', 'tr'] as const)('the result page in %s', (language) => {
  const page = (kind: PageName): string => buyerPage(kind, language, 'https://shop.example/?a=1&b="2"');

  it.each(KINDS)('for %s is a complete document with its own text', (kind) => {
    expect(page(kind)).toMatch(new RegExp(`^<!doctype html><html lang="${language}"><head><meta charset="utf-8">`));
    expect(page(kind)).toMatch(
      /<title>[^<]+<\/title>.*<main><h1>[^<]+<\/h1><p>[^<]+<\/p><p><a .*<\/main><\/body><\/html>$/,
    );
    for (const other of KINDS.filter((name) => name !== kind)) expect(page(other)).not.toBe(page(kind));
  });

  it('says that money was taken, or that none was, only if this is known', () => {
    expect(KINDS.filter((kind) => PAID.test(page(kind)))).toEqual(['success']);
    expect(KINDS.filter((kind) => NOT_PAID.test(page(kind)))).toEqual(['failure']);
  });

  it('asks the buyer not to pay again while the outcome is unknown', () => {
    expect(KINDS.filter((kind) => DO_NOT_REPEAT.test(page(kind)))).toEqual(['pending']);
  });

  it('asks the buyer to return to the shop after a refusal, and to reload when the store is down', () => {
    expect(KINDS.filter((kind) => /Please return to the shop|Lütfen mağazaya dönün/.test(page(kind)))).toEqual([
      'refused',
    ]);
    expect(KINDS.filter((kind) => /reload this page|sayfayı yenileyin/.test(page(kind)))).toEqual(['reload']);
    for (const kind of KINDS) expect(page(kind)).not.toContain('undefined');
  });

  it.each(KINDS)('for %s loads no resource and runs no script', (kind) => {
    expect(page(kind)).not.toMatch(/<script|<link|<img|<form|src=|url\(/i);
  });

  it.each(KINDS)('for %s links to the shop, even from within a frame', (kind) => {
    const link = '<a href="https://shop.example/?a=1&#38;b=&#34;2&#34;" target="_top">';
    expect(page(kind)).toContain(`${link}${language === 'tr' ? 'Mağazaya dön' : 'Back to the shop'}</a>`);
    expect(page(kind).match(/href=/g)).toHaveLength(1);
  });
});

/**
 * The headers for the bank's page (`html` of `init3d`). Without them the page would run another party's scripts in your
 * shop's origin. The sandbox gives it an origin of its own: it can post its forms and go to the bank, but cannot read
 * your shop's cookies, storage, pages or answers. Show it in the window of the checkout: a page in a second window
 * could not read the first either, but could navigate it elsewhere.
 *
 * Replace headers of the same names by these; together with a Content-Security-Policy of your own, the page would not
 * work. Unverified with real banks: if a bank needs cookies on this page, send it without the sandbox, from a host name
 * that has no cookies and serves nothing else.
 */
export const BANK_PAGE_HEADERS = Object.freeze({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  // No form-action: browsers apply it to redirects, too, and the hosts that an issuer redirects to are not known.
  'Content-Security-Policy':
    'sandbox allow-forms allow-scripts allow-top-navigation allow-popups allow-popups-to-escape-sandbox; ' +
    "frame-ancestors 'none'",
});

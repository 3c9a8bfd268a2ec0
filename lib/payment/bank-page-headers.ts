/**
 * The headers to send the bank's page (`html` of `init3d`) with. The page is another party's script in your own origin:
 * the sandbox gives it an origin of its own, in which it can post its forms and go to the bank, but reads no cookie,
 * storage, page or answer of your shop. Show it in the window of the checkout: a window that it is opened from is not
 * read either, but can be sent elsewhere.
 *
 * They take the place of headers of the same names; a Content-Security-Policy of your own beside them would stop the
 * page. Unverified with real banks: for one that needs cookies on this very page, send it without the sandbox, from a
 * host name of its own that has no cookies and serves nothing else.
 */
export const BANK_PAGE_HEADERS = Object.freeze({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  // No form-action: browsers apply it to redirects too, and nobody knows all hosts that an issuer redirects to.
  'Content-Security-Policy':
    'sandbox allow-forms allow-scripts allow-top-navigation allow-popups allow-popups-to-escape-sandbox; ' +
    "frame-ancestors 'none'",
});

import { Injectable } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { type AddressInfo, Server } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { PaymentValidationError, type ValidationProblem } from '../errors/payment-errors.js';
import { CallbackRoute } from '../options/payment-options.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { variableOf } from '../payment/account.js';
import { isLoopback, trimSlashes } from '../runtime/network.js';
import type { Translations } from '../runtime/text-language.js';

/** Stands in place of the token in the URLs of a direct payment: no buyer returns to them. */
const NO_TOKEN = 'direct';

/** The two URLs that a request gives the gateway. */
export interface ReturnUrls {
  readonly returnUrl: string;
  readonly failUrl: string;
}

/** Decides where the bank sends the buyer back. */
@Injectable()
export class ReturnUrlMaker {
  /** #private, since `inspect` would otherwise print the host's own objects. */
  readonly #config: ApplicationConfig;
  readonly #adapterHost: HttpAdapterHost;

  constructor(
    private readonly settings: PaymentSettings,
    private readonly route: CallbackRoute,
    config: ApplicationConfig,
    adapterHost: HttpAdapterHost,
  ) {
    this.#config = config;
    this.#adapterHost = adapterHost;
  }

  /**
   * The caller's own URLs, else the configured ones, else the built-in controller's. `{token}` is filled in.
   *
   * @throws PaymentValidationError when there is none, or the caller's lead to another site
   */
  make(own: Partial<ReturnUrls>, token: string = NO_TOKEN): ReturnUrls {
    const built = this.base();
    const problems = this.foreignIn(own);
    const choose = (option: keyof ReturnUrls, last: string): string => {
      const url = own[option] ?? this.settings[option] ?? (built && `${built}/{token}/${last}`);
      if (url === null) {
        problems.push({ path: option, rule: 'isDefined', message: neededText(option) });
      }
      return (url ?? '').replaceAll('{token}', token);
    };
    const urls = { returnUrl: choose('returnUrl', 'return'), failUrl: choose('failUrl', 'fail') };
    if (problems.length > 0) throw new PaymentValidationError(problems);
    return urls;
  }

  /**
   * Refuses URLs of a call that lead to another site: whoever gets the token that they hold can complete the payment.
   * The merchant's own are the origins of `publicUrl`, `callbackUrl`, `returnUrl` and `failUrl`; if `publicUrl` is this
   * machine, any may be.
   */
  private foreignIn(own: Partial<ReturnUrls>): ValidationProblem[] {
    const { publicUrl, callbackUrl, returnUrl, failUrl, account } = this.settings;
    const site = publicUrl ?? this.base();
    if (site !== null && isLoopback(new URL(site).hostname)) return [];
    const origins = [publicUrl, callbackUrl, returnUrl, failUrl].flatMap((url) => (url && originOf(url)) ?? []);
    const foreign = (['returnUrl', 'failUrl'] as const).filter(
      (name) => own[name] && !origins.includes(originOf(own[name]) ?? ''),
    );
    const message = origins.length > 0 ? OWN_TEXTS : unknownText(variableOf(account, 'publicUrl'));
    return foreign.map((path) => ({ path, rule: 'ownUrl', message }));
  }

  /** Where the bank sends the buyer back, as shown to people; null when each payment has its own. */
  shown(): string | null {
    const { returnUrl, callbackUrl, publicUrl } = this.settings;
    // The query may hold a secret of the host.
    if (returnUrl !== null) return returnUrl.replace(/[?#].*/s, '');
    if (this.route.path === null) return null;
    // The address is known once the server listens.
    const isLocal = callbackUrl === null && publicUrl === null;
    return `${isLocal ? `/${this.base('')}` : this.base()}/{token}/return`;
  }

  /**
   * The prefix is known only once the application has started, and the server's address only once it listens. So both
   * are read here, not in the constructor.
   */
  private base(site?: string): string | null {
    const { callbackUrl } = this.settings;
    const { path } = this.route;
    if (path === null) return null;
    if (callbackUrl) return callbackUrl;
    const prefix = this.isExcluded(path) ? '' : trimSlashes(this.#config.getGlobalPrefix());
    return [site ?? this.site(), prefix, path].filter(Boolean).join('/');
  }

  private site(): string {
    return this.settings.publicUrl ?? localUrlOf(this.#adapterHost.httpAdapter?.getHttpServer());
  }

  private isExcluded(path: string): boolean {
    const { exclude = [] } = this.#config.getGlobalPrefixOptions();
    return exclude.some(({ pathRegex }) => pathRegex.test(`/${path}/${NO_TOKEN}/return`));
  }
}

const OWN_TEXTS: Translations = {
  en: 'must lead to your own site: to the origin of publicUrl, callbackUrl, or the options returnUrl and failUrl',
  tr: 'kendi sitenize götürmeli: publicUrl, callbackUrl ya da returnUrl ve failUrl seçeneklerindeki kökene',
};

function unknownText(variable: string): Translations {
  return {
    en: `must lead to your own site, of which no address is configured; set ${variable} (publicUrl)`,
    tr: `kendi sitenize götürmeli, ama sitenizin adresi ayarlı değil; ${variable} (publicUrl) ayarlayın`,
  };
}

/**
 * The origin of a URL that has been checked, perhaps with `{token}` in its path; null if browsers and others may read
 * it as different sites, by a backslash or credentials.
 */
function originOf(url: string): string | null {
  const { origin, username, password } = new URL(url);
  return url.includes('\\') || username !== '' || password !== '' ? null : origin;
}

function neededText(option: keyof ReturnUrls): Translations {
  return {
    en: `is required, because the callback controller is off; pass it here or set the option ${option}`,
    tr: `gerekli, çünkü callback controller kapalı; burada verin ya da ${option} seçeneğini ayarlayın`,
  };
}

/** Addresses of this machine, which a browser on it reaches as localhost. */
const LOCALHOST: ReadonlySet<string> = new Set(['0.0.0.0', '::', '127.0.0.1', '::1']);

/**
 * The URL at which a browser on this machine reaches an HTTP server. A server that does not listen (the application is
 * not started, or its tests pass requests without a socket) has no port; then only the path is meaningful.
 */
export function localUrlOf(server: unknown): string {
  const scheme = server instanceof TlsServer ? 'https' : 'http';
  const address = server instanceof Server ? server.address() : null;
  if (address === null || typeof address === 'string') return `${scheme}://localhost`;
  return `${scheme}://${hostOf(address)}:${address.port}`;
}

function hostOf({ address, family }: AddressInfo): string {
  if (LOCALHOST.has(address)) return 'localhost';
  return family === 'IPv6' ? `[${address}]` : address;
}

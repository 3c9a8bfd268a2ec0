import { Injectable } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { type AddressInfo, Server } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { PaymentValidationError, type ValidationProblem } from '../errors/payment-validation.error.js';
import { CallbackRoute, trimSlashes } from '../options/payment-options.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { isLoopback } from '../payment/loopback.js';
import { textLanguage, type Translations } from '../payment/text-language.js';
import { NO_TOKEN } from './callback-token.js';

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
   * @throws PaymentValidationError when there is none
   */
  make(own: Partial<ReturnUrls> & { readonly language?: string }, token: string = NO_TOKEN): ReturnUrls {
    const built = this.base();
    const language = textLanguage(own.language ?? this.settings.language);
    const problems: ValidationProblem[] = [];
    const choose = (option: keyof ReturnUrls, last: string): string => {
      const url = own[option] ?? this.settings[option] ?? (built && `${built}/{token}/${last}`);
      if (url === null) {
        problems.push({ path: option, rule: 'isDefined', message: neededText(option) });
      }
      return (url ?? '').replaceAll('{token}', token);
    };
    const urls = { returnUrl: choose('returnUrl', 'return'), failUrl: choose('failUrl', 'fail') };
    if (problems.length > 0) throw new PaymentValidationError(problems, language);
    return urls;
  }

  /**
   * Refuses URLs of a call that lead to a host which is not the merchant's. The merchant's are those of `publicUrl`,
   * `callbackUrl`, `returnUrl` and `failUrl`; if none is set, or one of them is this machine, any host may be.
   *
   * @throws PaymentValidationError
   */
  expectOwn(own: Partial<ReturnUrls> & { readonly language?: string }): void {
    const { publicUrl, callbackUrl, returnUrl, failUrl } = this.settings;
    const urls = [publicUrl, callbackUrl, returnUrl, failUrl].filter((url) => url !== null);
    const hosts = urls.map(hostIn);
    if (hosts.length === 0 || hosts.some(isLoopback)) return;
    const foreign = (['returnUrl', 'failUrl'] as const).filter(
      (name) => own[name] && !hosts.includes(hostIn(own[name])),
    );
    if (foreign.length === 0) return;
    const language = textLanguage(own.language ?? this.settings.language);
    throw new PaymentValidationError(
      foreign.map((path) => ({ path, rule: 'ownUrl', message: OWN_TEXTS })),
      language,
    );
  }

  /** Where the bank sends the buyer back, as shown to people; null when each payment has its own. */
  shown(): string | null {
    const { returnUrl, callbackUrl, publicUrl } = this.settings;
    // The query may hold a secret of the host.
    if (returnUrl !== null) return returnUrl.replace(/[?#].*$/s, '');
    if (this.route.path === null) return null;
    // The address is known once the server listens.
    if (callbackUrl === null && publicUrl === null) return `/${this.route.path}/{token}/return`;
    return `${this.base()}/{token}/return`;
  }

  /**
   * The prefix is known only once the application has started, and the server's address only once it listens. So both
   * are read here, not in the constructor.
   */
  private base(): string | null {
    const { callbackUrl, publicUrl } = this.settings;
    const { path } = this.route;
    if (path === null) return null;
    if (callbackUrl) return callbackUrl;
    const prefix = this.isExcluded(path) ? '' : trimSlashes(this.#config.getGlobalPrefix());
    const site = publicUrl ?? localUrlOf(this.#adapterHost.httpAdapter?.getHttpServer());
    return [site, prefix, path].filter(Boolean).join('/');
  }

  private isExcluded(path: string): boolean {
    const { exclude = [] } = this.#config.getGlobalPrefixOptions();
    return exclude.some(({ pathRegex }) => pathRegex.test(`/${path}/${NO_TOKEN}/return`));
  }
}

const OWN_TEXTS: Translations = {
  en: 'must lead to your own site: to the host of publicUrl, callbackUrl, or the options returnUrl and failUrl',
  tr: 'kendi sitenize götürmeli: publicUrl, callbackUrl ya da returnUrl ve failUrl seçeneklerindeki sunucuya',
};

/** The host name of a URL that has been checked, perhaps with `{token}` in its path. */
function hostIn(url: string): string {
  return new URL(url).hostname;
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

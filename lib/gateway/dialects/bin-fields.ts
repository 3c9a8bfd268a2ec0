import type { CardType } from '../../payment/card-bin.js';
import type { BinResult, GatewayResult, InstallmentRow } from '../gateway-dialect.js';
import type { ReplyFields } from '../readings/reply-fields.js';

/**
 * The names under which an answer about a BIN may show what it tells, the likeliest first. All of them are unverified:
 * `cardBrand`, `installmentList`, `installmentCount` and `installmentTotalAmount` are of a like answer of the vendor's
 * panel; the others are those of other Turkish gateways. Case and underscores are ignored.
 */
const NAMES = {
  bin: ['bin', 'binNumber', 'binCode', 'cardBin', 'prefixNo', 'prefix'],
  bank: [
    'bankName',
    'cardBankName',
    'cardBank',
    'issuerBankName',
    'issuerBank',
    'issuingBank',
    'issuerName',
    'issuer',
    'bank',
  ],
  brand: [
    'cardBrand',
    'brandName',
    'brand',
    'cardAssociation',
    'cardScheme',
    'scheme',
    'cardNetwork',
    'network',
    'cardOrganization',
    'cardOrg',
  ],
  type: ['cardType', 'cardTypeName', 'creditType', 'fundingType', 'funding', 'cardKind', 'cardCategory', 'type'],
  commercial: [
    'commercial',
    'isCommercial',
    'isCommercialCard',
    'commercialCard',
    'commercialFlag',
    'isBusinessCard',
    'businessCard',
    'isBusiness',
    'isCorporate',
    'corporate',
    'cardKind',
    'cardCategory',
    'productCategory',
    'cardSegment',
  ],
  installments: [
    'installmentList',
    'installments',
    'installmentOptions',
    'installmentPrices',
    'installmentInfo',
    'installmentDetails',
    'instalmentList',
    'instalments',
  ],
} as const;

const ROW_NAMES = {
  count: [
    'installmentCount',
    'installmentNumber',
    'installmentNo',
    'instalmentCount',
    'installment',
    'count',
    'number',
  ],
  total: ['installmentTotalAmount', 'totalAmount', 'totalPrice', 'installmentTotalPrice', 'installmentTotal', 'total'],
} as const satisfies Readonly<Record<keyof InstallmentRow, readonly string[]>>;

/** The price that the totals are of. */
const PRICE_NAMES = ['amount', 'price'];

const TYPE_WORDS: Readonly<Record<CardType, readonly string[]>> = {
  credit: ['c', 'cc', 'credit', 'creditcard', 'kredi', 'kredikarti', 'kredikart'],
  debit: ['d', 'dc', 'debit', 'debitcard', 'debitkart', 'banka', 'bankakarti', 'bankakart', 'bankcard'],
  prepaid: ['p', 'prepaid', 'prepaidcard', 'onodemeli', 'onodemelikart', 'onodemelikarti'],
};
const TYPE_FLAGS: Readonly<Record<CardType, readonly string[]>> = {
  credit: ['isCredit', 'isCreditCard', 'credit', 'creditCard'],
  debit: ['isDebit', 'isDebitCard', 'debit', 'debitCard'],
  prepaid: ['isPrepaid', 'isPrepaidCard', 'prepaid', 'prepaidCard'],
};
const YES_WORDS: ReadonlySet<string> = new Set([
  ...['true', '1', 'yes', 'y', 'evet', 'e'],
  ...['commercial', 'commercialcard', 'corporate', 'corporatecard', 'business', 'businesscard', 'company'],
  ...['ticari', 'ticarikart', 'kurumsal', 'kurumsalkart', 'sirket', 'sirketkarti'],
]);
const NO_WORDS: ReadonlySet<string> = new Set([
  ...['false', '0', 'no', 'n', 'hayir', 'h'],
  ...['personal', 'personalcard', 'individual', 'individualcard', 'consumer', 'consumercard', 'retail'],
  ...['bireysel', 'bireyselkart'],
]);

const MAX_DEPTH = 3;
const MAX_PLACES = 30;
/** More rows than any card has. A long list must not hold up the process. */
const MAX_ROWS = 100;

/** Reads what an answer about a BIN tells, beside its code or in an object of its own. */
export function readBinFields(fields: ReplyFields, result: GatewayResult): BinResult {
  const places = placesIn(fields);
  return {
    ...result,
    amount: firstText(places, PRICE_NAMES),
    bin: firstText(places, NAMES.bin),
    bank: firstText(places, NAMES.bank) ?? nameIn(places, NAMES.bank),
    type: typeIn(places),
    brand: firstText(places, NAMES.brand) ?? nameIn(places, NAMES.brand),
    commercial: commercialIn(places),
    installments: installmentsIn(places),
  };
}

/** The answer itself, and the objects in it: an answer may wrap what it tells, in `data` for example. */
function placesIn(fields: ReplyFields): readonly ReplyFields[] {
  const places = [fields];
  let level = [fields];
  for (let depth = 0; depth < MAX_DEPTH && places.length < MAX_PLACES; depth += 1) {
    level = level.flatMap((place) => place.objects(MAX_PLACES)).slice(0, MAX_PLACES);
    // The only row of a list is not a place of its own.
    places.push(...level.filter((place) => rowOf(place).count === null));
  }
  return places.slice(0, MAX_PLACES);
}

/** The text under the first of the names that has one anywhere; null if places differ. */
function firstText(places: readonly ReplyFields[], names: readonly string[]): string | null {
  for (const name of names) {
    const texts = textsOf(places, name);
    if (texts.length > 0) return texts.every((text) => text === texts[0]) ? (texts[0] ?? null) : null;
  }
  return null;
}

function textsOf(places: readonly ReplyFields[], name: string): string[] {
  return places
    .flatMap((place) => spellings(name).map((spelling) => place.text(spelling)))
    .filter((text) => text !== null);
}

/** `bankName` may be written `bank_name`. */
function spellings(name: string): readonly string[] {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter}`);
  return snake === name ? [name] : [name, snake];
}

/** The name in an object: `bank: { name }`. */
function nameIn(places: readonly ReplyFields[], names: readonly string[]): string | null {
  const objects = names.flatMap((name) => places.map((place) => place.object(name)));
  return firstText(
    objects.filter((object) => object !== null),
    ['name'],
  );
}

/** `cardType` is the kind of account at some gateways, and the card's scheme at others. */
function typeIn(places: readonly ReplyFields[]): CardType | null {
  const types = Object.keys(TYPE_WORDS) as CardType[];
  for (const name of NAMES.type) {
    const found = textsOf(places, name).flatMap((text) =>
      types.filter((type) => TYPE_WORDS[type].includes(wordOf(text))),
    );
    if (found.length > 0) return found.every((type) => type === found[0]) ? (found[0] ?? null) : null;
  }
  const flagged = types.filter((type) => TYPE_FLAGS[type].some((name) => yesOrNo(places, name) === true));
  return flagged.length === 1 ? (flagged[0] ?? null) : null;
}

function commercialIn(places: readonly ReplyFields[]): boolean | null {
  for (const name of NAMES.commercial) {
    const found = yesOrNo(places, name);
    if (found !== null) return found;
  }
  return null;
}

/** @returns null if no place has an answer that can be read, or places differ */
function yesOrNo(places: readonly ReplyFields[], name: string): boolean | null {
  const flags = places
    .flatMap((place) => spellings(name).map((spelling) => place.flag(spelling) ?? wordMeaning(place.text(spelling))))
    .filter((flag) => flag !== null);
  return flags.length > 0 && flags.every((flag) => flag === flags[0]) ? (flags[0] ?? null) : null;
}

function wordMeaning(text: string | null): boolean | null {
  if (text === null) return null;
  const word = wordOf(text);
  if (YES_WORDS.has(word)) return true;
  return NO_WORDS.has(word) ? false : null;
}

/** In lower case, Turkish letters as their Latin ones, without spaces and signs: `KREDİ KARTI` is `kredikarti`. */
function wordOf(text: string): string {
  return text
    .slice(0, 40)
    .toLowerCase()
    .replaceAll('ı', 'i')
    .normalize('NFD')
    .replace(/[^a-z0-9]/g, '');
}

/** The first list under one of the names whose rows have a count, or that is empty. */
function installmentsIn(places: readonly ReplyFields[]): readonly InstallmentRow[] | null {
  const lists = NAMES.installments
    .flatMap((name) => places.flatMap((place) => spellings(name).map((spelling) => place.list(spelling, MAX_ROWS))))
    .filter((list) => list !== null)
    .map((list) => list.map(rowOf));
  return (
    lists.find((rows) => rows.some(({ count }) => count !== null)) ?? lists.find(({ length }) => length === 0) ?? null
  );
}

/** A row may be the number of instalments alone. */
function rowOf(item: ReplyFields | string | null): InstallmentRow {
  if (item === null || typeof item === 'string') return { count: item, total: null };
  return { count: firstText([item], ROW_NAMES.count), total: firstText([item], ROW_NAMES.total) };
}

import type {
  PaymentEventState,
  PaymentEventType,
  PaymentReason,
  PaymentState,
  RefundEventType,
  RefundState,
} from 'nestjs-card-payment';
import type { Language } from '../visitor/language.js';

/** What the orders page calls a payment's states. */
export const STATE_WORDS: Readonly<Record<Language, Readonly<Record<PaymentState, string>>>> = {
  en: {
    charging: 'charging',
    initiating: 'initiating',
    awaiting: 'awaiting',
    authorizing: 'authorizing',
    pending: 'at the gateway’s page',
    succeeded: 'succeeded',
    failed: 'failed',
    expired: 'expired',
    unknown: 'unknown',
    review: 'review',
  },
  tr: {
    charging: 'çekiliyor',
    initiating: 'başlatılıyor',
    awaiting: 'bankada',
    authorizing: 'onaylanıyor',
    pending: 'ödeme sayfasında',
    succeeded: 'başarılı',
    failed: 'başarısız',
    expired: 'süresi doldu',
    unknown: 'belirsiz',
    review: 'incelenecek',
  },
};

/** What the orders page calls a refund's states. A refund that failed gave nothing back. */
export const REFUND_STATE_WORDS: Readonly<Record<Language, Readonly<Record<RefundState, string>>>> = {
  en: {
    refunding: 'refunding',
    succeeded: 'succeeded',
    failed: 'failed',
    unknown: 'unknown',
    review: 'review',
  },
  tr: {
    refunding: 'işleniyor',
    succeeded: 'başarılı',
    failed: 'başarısız',
    unknown: 'belirsiz',
    review: 'incelenecek',
  },
};

/** How money is given back: a refund of all or of a part, or a void, which calls off the whole payment. */
export const REFUND_KIND_WORDS: Readonly<Record<Language, Readonly<Record<'refund' | 'partial' | 'void', string>>>> = {
  en: { refund: 'refund', partial: 'partial refund', void: 'void' },
  tr: { refund: 'iade', partial: 'kısmi iade', void: 'iptal' },
};

/** Why a payment or refund is in its state. */
export const REASON_WORDS: Readonly<Record<Language, Readonly<Record<PaymentReason, string>>>> = {
  en: {
    declined: 'declined',
    refused: 'request refused',
    not_sent: 'not sent',
    no_answer: 'no answer',
    unreadable: 'unreadable answer',
    server_error: 'server error of the gateway',
    indeterminate_code: 'the code does not decide',
    unrecognised_code: 'unrecognised code',
    approval_variant: 'partial or conditional approval',
    codes_disagree: 'the codes disagree',
    conversation_mismatch: 'approval of another payment',
    amount_mismatch: 'another amount',
    currency_mismatch: 'another currency',
    sign_mismatch: 'the signature does not match',
    unbound: 'the approval does not name this payment',
    reference_taken: 'another payment holds the order',
    vetoed: 'stopped by the shop',
    interrupted: 'interrupted',
    moved_after_all: 'money moved after all',
    not_found: 'not known to the gateway',
    abandoned: 'given up by the buyer',
    operator: 'settled by hand',
    recorded: 'made at the gateway’s own panel',
  },
  tr: {
    declined: 'reddedildi',
    refused: 'istek kabul edilmedi',
    not_sent: 'gönderilmedi',
    no_answer: 'yanıt gelmedi',
    unreadable: 'yanıt okunamadı',
    server_error: 'geçitte sunucu hatası',
    indeterminate_code: 'kod sonucu göstermiyor',
    unrecognised_code: 'tanınmayan kod',
    approval_variant: 'kısmi veya koşullu onay',
    codes_disagree: 'kodlar çelişiyor',
    conversation_mismatch: 'onay başka bir ödemenin',
    amount_mismatch: 'tutar farklı',
    currency_mismatch: 'para birimi farklı',
    sign_mismatch: 'imza uyuşmuyor',
    unbound: 'onayda bu ödemenin adı geçmiyor',
    reference_taken: 'siparişte başka bir ödeme var',
    vetoed: 'mağaza durdurdu',
    interrupted: 'yarıda kaldı',
    moved_after_all: 'para sonradan çekilmiş göründü',
    not_found: 'geçit bu ödemeyi tanımıyor',
    abandoned: 'alıcı vazgeçti',
    operator: 'elle sonuçlandırıldı',
    recorded: 'geçidin kendi panelinden yapıldı',
  },
};

/** In English, events have the same names as in code. */
export const EVENT_WORDS: Readonly<Record<Language, (type: PaymentEventType | RefundEventType) => string>> = {
  en: (type) => type,
  tr: (type) => {
    const [of, state] = type.split('.') as ['payment' | 'refund', PaymentEventState];
    return `${of === 'refund' ? 'para iadesi' : 'ödeme'} ${STATE_WORDS.tr[state]}`;
  },
};

import type { Translations } from '../payment/text-language.js';

/**
 * Whether a buyer should try again.
 *
 * - `same_card`: yes, with the same card, after correcting what `tellBuyer` names.
 * - `other_card`: yes, with another card.
 * - `later`: yes, with the same card, in a few minutes.
 * - `never`: no. It would not help, or money may have moved.
 */
export type RetryAdvice = 'same_card' | 'other_card' | 'later' | 'never';

/** What the buyer is told to do. The words never say that a bank suspects fraud. */
interface Advice extends Translations {
  readonly retry: RetryAdvice;
}

export const ADVICE = {
  approved: { retry: 'never', en: 'Your payment was approved.', tr: 'Ödemeniz onaylandı.' },
  checking: {
    retry: 'never',
    en: 'Your payment is being checked. Please do not pay again.',
    tr: 'Ödemeniz kontrol ediliyor. Lütfen yeniden ödeme yapmayın.',
  },
  pending: {
    retry: 'never',
    en: 'The outcome of your payment is not known yet. Please do not pay again.',
    tr: 'Ödemenizin sonucu henüz bilinmiyor. Lütfen yeniden ödeme yapmayın.',
  },
  declined: {
    retry: 'other_card',
    en: 'Your bank declined the payment. Please try another card or call your bank.',
    tr: 'Bankanız ödemeyi reddetti. Lütfen başka bir kart deneyin veya bankanızı arayın.',
  },
  funds: {
    retry: 'other_card',
    en: 'The card’s funds or limit are not sufficient. Please try another card.',
    tr: 'Kartın bakiyesi veya limiti yeterli değil. Lütfen başka bir kart deneyin.',
  },
  limit: {
    retry: 'other_card',
    en: 'The payment is above a limit of the card. Please try another card or call your bank.',
    tr: 'Ödeme kartın bir limitini aşıyor. Lütfen başka bir kart deneyin veya bankanızı arayın.',
  },
  expired: {
    retry: 'other_card',
    en: 'The card has expired. Please try another card.',
    tr: 'Kartın süresi dolmuş. Lütfen başka bir kart deneyin.',
  },
  closed: {
    retry: 'other_card',
    en: 'This card cannot be used for this payment. Please try another card or call your bank.',
    tr: 'Bu kart bu ödeme için kullanılamıyor. Lütfen başka bir kart deneyin veya bankanızı arayın.',
  },
  number: {
    retry: 'same_card',
    en: 'The bank does not know this card. Please check the card number and try again.',
    tr: 'Banka bu kartı tanımıyor. Lütfen kart numarasını kontrol edip yeniden deneyin.',
  },
  identity: {
    retry: 'same_card',
    en: 'The bank could not verify that it was you. Please try again.',
    tr: 'Banka, işlemi sizin yaptığınızı doğrulayamadı. Lütfen yeniden deneyin.',
  },
  stepUp: {
    retry: 'same_card',
    en: 'Your bank may want to verify this payment. Please try again with 3D Secure.',
    tr: 'Bankanız bu ödemeyi doğrulamak isteyebilir. Lütfen 3D Secure ile yeniden deneyin.',
  },
  cancelled: {
    retry: 'same_card',
    en: 'You cancelled at your bank. You can try again.',
    tr: 'Bankanızın sayfasında iptal ettiniz. Yeniden deneyebilirsiniz.',
  },
  busy: {
    retry: 'later',
    en: 'The bank could not process the payment right now. Please try again in a few minutes.',
    tr: 'Banka ödemeyi şu anda işleyemedi. Lütfen birkaç dakika sonra yeniden deneyin.',
  },
  ask: {
    retry: 'never',
    en: 'The shop has to look into this payment. Please contact the shop before you pay again.',
    tr: 'Mağazanın bu ödemeyi incelemesi gerekiyor. Yeniden ödemeden önce lütfen mağazayla iletişime geçin.',
  },
  shop: {
    retry: 'never',
    en: 'The payment could not be made. Please contact the shop.',
    tr: 'Ödeme yapılamadı. Lütfen mağazayla iletişime geçin.',
  },
} as const satisfies Record<string, Advice>;

/** What to tell the buyer; then what happened, for the merchant, in English and in Turkish. */
export type ResultCodeRow = readonly [advice: keyof typeof ADVICE, en: string, tr: string];

/**
 * The codes of the vendor's public list, explained for people; the module decides by its `ResultCodeSets` instead.
 * Unverified: what a code means for the buyer is inferred from that list and from ISO 8583, the scheme it follows.
 */
// prettier-ignore
export const RESULT_CODES = {
  B0000: ['approved',  'Approved.',
                       'Onaylandı.'],
  B0001: ['declined',  'The issuer wants the cardholder to call before it decides.',
                       'Kartı veren banka karar vermeden önce kart sahibinin aramasını istiyor.'],
  B0002: ['declined',  'The issuer wants the cardholder to call: special conditions of its own apply.',
                       'Kartı veren bankanın özel koşulları var; kart sahibi bankasını aramalı.'],
  B0003: ['shop',      'The merchant number is wrong or unknown. Check `merchantId` with the gateway.',
                       'Üye iş yeri numarası hatalı ya da tanımsız. `merchantId` ayarını ödeme geçidine sorun.'],
  B0004: ['declined',  'The issuer wants the card to be captured. Keep this from the buyer.',
                       'Kartı veren banka karta el konmasını istiyor. Bunu alıcıya söylemeyin.'],
  B0005: ['declined',  'Do not honor: the issuer declined and gives no reason.',
                       'Kartı veren banka gerekçe göstermeden reddetti.'],
  B0006: ['pending',   'An error on the way. It does not say whether money moved.',
                       'Yolda bir hata oluştu. Para çekilip çekilmediğini söylemiyor.'],
  B0007: ['declined',  'The issuer wants the card to be picked up, special condition. Keep this from the buyer.',
                       'Kartı veren banka özel durum nedeniyle karta el konmasını istiyor. Bunu alıcıya söylemeyin.'],
  B0008: ['checking',  'Approved if the cardholder shows an identity card: no plain approval, look into it.',
                       'Kimlik kontrolü koşuluyla onaylandı: tam bir onay değil, inceleyin.'],
  B0009: ['pending',  'The bank asks to try again.',
                       'Banka yeniden denenmesini istiyor.'],
  B0010: ['checking',  'A part of the amount was approved.',
                       'Tutarın bir kısmı onaylandı.'],
  B0011: ['checking',  'Approved, as of a VIP customer: no plain approval, look into it.',
                       'VIP müşteri olarak onaylandı: tam bir onay değil, inceleyin.'],
  B0012: ['declined',  'Invalid transaction: the bank does not do this with this card.',
                       'Geçersiz işlem: banka bu kartla bu işlemi yapmıyor.'],
  B0013: ['shop',      'Invalid amount. Check amount, currency and instalments.',
                       'Geçersiz tutar. Tutarı, para birimini ve taksit sayısını kontrol edin.'],
  B0014: ['number',    'Invalid card number.',
                       'Geçersiz kart numarası.'],
  B0015: ['number',    'No issuer has such cards.',
                       'Bu kartı veren bir banka yok.'],
  B0016: ['checking',  'Approved, with an update of the card’s track 3: no plain approval, look into it.',
                       'Kartın 3. izi güncellenerek onaylandı: tam bir onay değil, inceleyin.'],
  B0017: ['cancelled', 'The customer cancelled.',
                       'Müşteri iptal etti.'],
  B0018: ['pending',  'The customer disputes the transaction.',
                       'Müşteri işleme itiraz ediyor.'],
  B0019: ['busy',      'The bank asks for the transaction once more.',
                       'Banka işlemin bir kez daha gönderilmesini istiyor.'],
  B0020: ['pending',   'Somebody on the way gave an invalid response. It does not say whether money moved.',
                       'Yoldaki bir taraf geçersiz yanıt verdi. Para çekilip çekilmediğini söylemiyor.'],
  B0021: ['pending',  'The bank did nothing.',
                       'Banka bir işlem yapmadı.'],
  B0022: ['pending',   'A malfunction is suspected. It does not say whether money moved.',
                       'Arıza şüphesi var. Para çekilip çekilmediğini söylemiyor.'],
  B0023: ['shop',      'The transaction fee is not accepted.',
                       'İşlem ücreti kabul edilmiyor.'],
  B0024: ['pending',  'The receiver does not support this update of a file.',
                       'Alıcı taraf bu dosya güncellemesini desteklemiyor.'],
  B0025: ['shop',      'The record is not on file.',
                       'Kayıt dosyada bulunamadı.'],
  B0026: ['pending',  'The record was updated twice; the older one is replaced.',
                       'Kayıt iki kez güncellendi; eskisinin yerine yenisi geçti.'],
  B0027: ['pending',  'A field of the update is wrong.',
                       'Güncellemenin bir alanı hatalı.'],
  B0028: ['declined',  'The transaction that this one belongs to was declined.',
                       'Bu işlemin bağlı olduğu işlem reddedilmişti.'],
  B0029: ['shop',      'The transaction that this one belongs to was not found.',
                       'Bu işlemin bağlı olduğu işlem bulunamadı.'],
  B0030: ['shop',      'Format error: a field of the request is not as the bank wants it.',
                       'Biçim hatası: isteğin bir alanı bankanın istediği gibi değil.'],
  B0031: ['closed',    'The card’s bank cannot be reached by this gateway.',
                       'Bu ödeme geçidinden kartın bankasına ulaşılamıyor.'],
  B0032: ['checking',  'Completed in part.',
                       'Kısmen tamamlandı.'],
  B0033: ['declined',  'The card has expired, and the issuer wants it picked up. Keep this from the buyer.',
                       'Kartın süresi dolmuş; banka karta el konmasını istiyor. Bunu alıcıya söylemeyin.'],
  B0034: ['declined',  'Fraud is suspected, and the issuer wants the card picked up. Keep this from the buyer.',
                       'Dolandırıcılık şüphesi var; banka karta el konmasını istiyor. Bunu alıcıya söylemeyin.'],
  B0035: ['declined',  'Call your acquirer; the issuer wants the card picked up. Keep this from the buyer.',
                       'Üye iş yeri bankanızı arayın; karta el konması isteniyor. Bunu alıcıya söylemeyin.'],
  B0036: ['declined',  'The card is restricted, and the issuer wants it picked up. Keep this from the buyer.',
                       'Kart kısıtlı; banka karta el konmasını istiyor. Bunu alıcıya söylemeyin.'],
  B0037: ['declined',  'Call your acquirer’s security; the card is to be picked up. Keep this from the buyer.',
                       'Bankanızın güvenlik birimini arayın; karta el konması isteniyor. Bunu alıcıya söylemeyin.'],
  B0038: ['declined',  'The PIN was entered wrongly too often.',
                       'Şifre çok kez yanlış girildi.'],
  B0039: ['closed',    'The card has no credit account.',
                       'Kartın kredi hesabı yok.'],
  B0041: ['declined',  'The card was reported lost. Keep this from the buyer.',
                       'Kart kayıp bildirilmiş. Bunu alıcıya söylemeyin.'],
  B0042: ['closed',    'The card has no universal account.',
                       'Kartın evrensel hesabı yok.'],
  B0043: ['declined',  'The card was reported stolen. Keep this from the buyer.',
                       'Kart çalıntı bildirilmiş. Bunu alıcıya söylemeyin.'],
  B0044: ['closed',    'The card has no investment account.',
                       'Kartın yatırım hesabı yok.'],
  B0051: ['funds',     'The funds or the limit are not sufficient.',
                       'Bakiye veya limit yeterli değil.'],
  B0052: ['closed',    'The card has no checking account.',
                       'Kartın vadesiz hesabı yok.'],
  B0053: ['closed',    'The card has no savings account.',
                       'Kartın tasarruf hesabı yok.'],
  B0054: ['expired',   'The card has expired, or its expiry was mistyped.',
                       'Kartın süresi geçmiş ya da son kullanma tarihi yanlış yazılmış.'],
  B0055: ['identity',  'The PIN or password is wrong.',
                       'Şifre hatalı.'],
  B0056: ['number',    'The issuer has no record of this card.',
                       'Kartı veren bankada bu kartın kaydı yok.'],
  B0057: ['closed',    'The issuer does not allow this with this card (closed to online payments, for example).',
                       'Kartı veren banka bu kartla buna izin vermiyor (internet alışverişine kapalı olabilir).'],
  B0058: ['shop',      'Your merchant account is not allowed to do this. Ask the gateway.',
                       'Üye iş yerinizin buna izni yok. Ödeme geçidine sorun.'],
  B0059: ['declined',  'Fraud is suspected. Keep this from the buyer.',
                       'Dolandırıcılık şüphesi var. Bunu alıcıya söylemeyin.'],
  B0060: ['declined',  'You are to contact your acquirer about this card.',
                       'Bu kart için üye iş yeri bankanızla iletişime geçmeniz isteniyor.'],
  B0061: ['limit',     'The amount is above what the card may spend.',
                       'Tutar kartın harcama limitini aşıyor.'],
  B0062: ['declined',  'The card is restricted. Keep this from the buyer.',
                       'Kart kısıtlı. Bunu alıcıya söylemeyin.'],
  B0063: ['declined',  'Security violation. Keep this from the buyer.',
                       'Güvenlik ihlali. Bunu alıcıya söylemeyin.'],
  B0064: ['shop',      'The amount is not that of the transaction that this one belongs to.',
                       'Tutar, bu işlemin bağlı olduğu işleminkiyle aynı değil.'],
  B0065: ['stepUp',    'The issuer wants 3D Secure (soft decline: use `init3d`), or the card was used too often.',
                       'Banka 3D Secure istiyor (yumuşak ret: `init3d` kullanın) ya da kart çok sık kullanıldı.'],
  B0066: ['declined',  'You are to call your acquirer’s security department. Keep this from the buyer.',
                       'Bankanızın güvenlik birimini aramanız isteniyor. Bunu alıcıya söylemeyin.'],
  B0067: ['declined',  'The card is to be captured, at a cash machine. Keep this from the buyer.',
                       'Karta bankamatikte el konması isteniyor. Bunu alıcıya söylemeyin.'],
  B0068: ['pending',   'The response came too late. It does not say whether money moved.',
                       'Yanıt çok geç geldi. Para çekilip çekilmediğini söylemiyor.'],
  B0070: ['declined',  'The issuer wants the cardholder to call.',
                       'Kartı veren banka kart sahibinin aramasını istiyor.'],
  B0071: ['declined',  'The card’s PIN has not been changed yet.',
                       'Kartın şifresi henüz değiştirilmemiş.'],
  B0075: ['declined',  'The PIN was entered wrongly too often.',
                       'Şifre çok kez yanlış girildi.'],
  B0076: ['busy',      'The keys of two parties are out of step.',
                       'İki tarafın anahtarları uyuşmuyor.'],
  B0077: ['declined',  'Declined: the issuer has no procedure for this.',
                       'Reddedildi: bankada bunun için tanımlı bir akış yok.'],
  B0078: ['declined',  'The card’s PIN is not safe enough.',
                       'Kartın şifresi yeterince güvenli değil.'],
  B0079: ['declined',  'The chip’s cryptogram (ARQC) is not right.',
                       'Kart çipinin kriptogramı (ARQC) doğrulanamadı.'],
  B0080: ['pending',  'Reserved for private use: only the bank knows what it means.',
                       'Özel kullanım için ayrılmış: anlamını yalnızca banka bilir.'],
  B0081: ['closed',    'The card does not allow domestic debit payments.',
                       'Kart yurt içi banka kartı işlemlerine kapalı.'],
  B0082: ['declined',  'The policy of Mastercard or of the issuer forbids it. Keep this from the buyer.',
                       'Mastercard’ın veya bankanın kuralları izin vermiyor. Bunu alıcıya söylemeyin.'],
  B0083: ['declined',  'Fraud or security, by Mastercard. Keep this from the buyer.',
                       'Mastercard’a göre dolandırıcılık veya güvenlik sorunu. Bunu alıcıya söylemeyin.'],
  B0084: ['shop',      'The authorization is not in a state in which this can be done.',
                       'Provizyon buna uygun bir aşamada değil.'],
  B0085: ['checking',  'Approved, as a request about a PIN: no approval of a sale, look into it.',
                       'Şifre işlemi olarak onaylandı: satış onayı değil, inceleyin.'],
  B0086: ['busy',      'The PIN cannot be verified at the moment.',
                       'Şifre şu anda doğrulanamıyor.'],
  B0087: ['checking',  'The purchase alone was approved, without cash back.',
                       'Yalnızca alışveriş tutarı onaylandı, nakit çekim onaylanmadı.'],
  B0088: ['busy',      'An encryption failed on the way.',
                       'Yolda bir şifreleme hatası oluştu.'],
  B0089: ['identity',  'The PIN is not accepted; another try is welcome.',
                       'Şifre kabul edilmedi; yeniden denenebilir.'],
  B0090: ['busy',      'The bank closes its day; the transaction can be sent again in a few minutes.',
                       'Banka gün sonu yapıyor; işlem birkaç dakika sonra yeniden gönderilebilir.'],
  B0091: ['pending',   'The issuer’s system is down. It does not say whether money moved.',
                       'Kartı veren bankanın sistemi çalışmıyor. Para çekilip çekilmediğini söylemiyor.'],
  B0092: ['busy',      'No way to the card’s bank was found.',
                       'Kartın bankasına yol bulunamadı.'],
  B0093: ['declined',  'The law forbids the transaction. Keep this from the buyer.',
                       'İşleme yasa izin vermiyor. Bunu alıcıya söylemeyin.'],
  B0095: ['pending',   'The accounts of two parties do not agree. It does not say whether money moved.',
                       'İki tarafın hesapları uyuşmuyor. Para çekilip çekilmediğini söylemiyor.'],
  B0096: ['pending',   'System error. It does not say whether money moved.',
                       'Sistem hatası. Para çekilip çekilmediğini söylemiyor.'],
  B0098: ['pending',   'The same transaction came twice. It does not say what became of the first.',
                       'Aynı işlem iki kez geldi. İlkinin sonucunu söylemiyor.'],
  B0100: ['shop',      'The gateway knows no payment of this `paymentId`.',
                       'Ödeme geçidi bu `paymentId` ile bir ödeme bilmiyor.'],
  B0101: ['shop',      'The `paymentId` is not valid.',
                       '`paymentId` geçersiz.'],
  B9999: ['pending',   'The bank found something wrong. It does not say whether money moved.',
                       'Banka bir hata buldu. Para çekilip çekilmediğini söylemiyor.'],
} as const satisfies Record<string, ResultCodeRow>;

/** The first letters of the gateway's own validation codes. The vendor publishes no list of them. */
export const VALIDATION_PREFIX = 'RVV';

// prettier-ignore
export const VALIDATION_CODE: ResultCodeRow =
        ['shop',       'The gateway refused the request itself: check the credentials, the settings and what was sent.',
                       'Ödeme geçidi isteğin kendisini reddetti: anahtarları, ayarları ve gönderileni kontrol edin.'];

// prettier-ignore
export const UNKNOWN_CODE: ResultCodeRow =
        ['ask',        'The vendor’s public list has no such code. The payment’s `state` says what is known.',
                       'Bu kod sağlayıcının yayımladığı listede yok. Bilineni ödemenin `state` alanı söyler.'];

// prettier-ignore
export const NO_CODE: ResultCodeRow =
        ['ask',        'The gateway gave no code. The payment’s `state` and `reason` say what is known.',
                       'Ödeme geçidi kod vermedi. Bilineni ödemenin `state` ve `reason` alanları söyler.'];

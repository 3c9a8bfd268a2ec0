/** What a result code says, in English and in Turkish. Public facts of the vendor's list, not of the contract. */
export interface ResultText {
  readonly en: string;
  readonly tr: string;
}

/** The texts of the known result codes. For people: decisions go by {@link ResultCodeSets}. */
export const RESULT_TEXTS: Readonly<Record<string, ResultText>> = {
  B0000: { en: 'Approved', tr: 'Onaylandı' },
  B0001: { en: 'Refer to card issuer', tr: 'Kartı veren banka ile iletişime geçiniz.' },
  B0002: { en: "Refer to card issuer's special conditions", tr: 'Kategori yok.' },
  B0003: { en: 'Invalid merchant', tr: 'Üye kodu hatalı/tanımsız.' },
  B0004: { en: 'Capture card', tr: 'Karte el koyunuz.' },
  B0005: { en: 'Do not honor', tr: 'Red' },
  B0006: { en: 'Error', tr: 'Hatalı işlem' },
  B0007: { en: 'Pick-up card, special condition', tr: 'Karta el koyunuz.' },
  B0008: { en: 'Honor with ID', tr: 'Kimlik kontrolü' },
  B0009: { en: 'Try Again', tr: 'Tekrar deneyin.' },
  B0010: { en: 'Partial Approval', tr: 'İşlem kısmen onaylandı.' },
  B0011: { en: 'Approved (VIP)', tr: 'Onaylandı VIP' },
  B0012: { en: 'Invalid transaction', tr: 'Hatalı işlem' },
  B0013: { en: 'Invalid amount', tr: 'Hatalı miktar' },
  B0014: { en: 'Invalid card number', tr: 'Hatalı kart no' },
  B0015: { en: 'Invalid issuer', tr: 'Müşteri yok' },
  B0016: { en: 'Approved, update track 3', tr: 'İşlem onaylandı, Track 3 verisi güncellenecek.' },
  B0017: { en: 'Customer cancellation', tr: 'Müşteri iptali.' },
  B0018: { en: 'Customer dispute', tr: 'Müşteri itirazı.' },
  B0019: { en: 'Re-enter transaction', tr: 'İşlemi tekrar gir.' },
  B0020: { en: 'Invalid response', tr: 'Geçersiz yanıt.' },
  B0021: { en: 'No action taken', tr: 'İşlem yapılmadı.' },
  B0022: { en: 'Suspected malfunction', tr: 'Arıza şüphesi.' },
  B0023: { en: 'Unacceptable transaction fee', tr: 'İşlem ücreti uygun değil.' },
  B0024: { en: 'File update not supported by receiver', tr: 'Dosya güncellemesi alıcı tarafından desteklenmiyor.' },
  B0025: { en: 'Unable to locate record on file', tr: 'Dosyada kayıt bulunamadı.' },
  B0026: {
    en: 'Duplicate file update record, old record replaced',
    tr: 'Dosya güncelleme kaydı yinelendi, eski kayıt değiştirildi.',
  },
  B0027: { en: 'File update field edit error', tr: 'Dosya güncelleme alanı düzenleme hatası.' },
  B0028: { en: 'Original is declined', tr: 'Orijinal teklif reddedildi.' },
  B0029: { en: 'Original not found', tr: 'Orijinal teklif bulunamadı.' },
  B0030: { en: 'Format error', tr: 'Format hatası.' },
  B0031: { en: 'Bank not supported by switch', tr: 'Banka switch tarafından desteklenmiyor.' },
  B0032: { en: 'Completed partially', tr: 'Kısmen tamamlandı.' },
  B0033: { en: 'Expired card - pick up', tr: 'Süresi dolmuş kart.' },
  B0034: { en: 'Suspected fraud - pick up', tr: 'Dolandırıcılık şüphesi.' },
  B0035: { en: 'Card acceptor contact acquirer - pick up', tr: 'Kart kabul eden, bankayı arayın.' },
  B0036: { en: 'Restricted card - pick up', tr: 'Kısıtlı kart – Kartı alın.' },
  B0037: {
    en: 'Card acceptor call acquirer security - pick up',
    tr: 'Kart kabul eden, banka güvenliğini arayın – Kartı alın.',
  },
  B0038: { en: 'Allowable PIN tries exceeded', tr: 'PIN deneme hakkı doldu.' },
  B0039: { en: 'No credit account', tr: 'Kredi hesabı yok.' },
  B0041: { en: 'Lost card', tr: 'Kayıp kart.' },
  B0042: { en: 'No universal account', tr: 'Evrensel hesap yok.' },
  B0043: { en: 'Stolen card', tr: 'Çalıntı kart.' },
  B0044: { en: 'No investment account', tr: 'Yatırım hesabı yok.' },
  B0051: { en: 'Insufficient funds/over credit limit', tr: 'Yetersiz hesap.' },
  B0052: { en: 'No checking account', tr: 'Hesap noyu kontrol edin.' },
  B0053: { en: 'No savings account', tr: 'Hesap yok.' },
  B0054: { en: 'Expired card', tr: 'Süresi geçmiş kart.' },
  B0055: { en: 'Invalid PIN', tr: 'Şifre hatalı.' },
  B0056: { en: 'No card record', tr: 'Kart kaydı yok.' },
  B0057: {
    en: 'Transaction not permitted to issuer/cardholder',
    tr: 'Kart sahibine/kartı veren kuruluşa işlem izni verilmedi.',
  },
  B0058: { en: 'Transaction not permitted to acquirer/terminal', tr: 'Alıcı/terminal için işleme izin verilmiyor.' },
  B0059: { en: 'Suspected fraud', tr: 'Dolandırıcılık şüphesi.' },
  B0060: {
    en: 'Card acceptor contact acquirer',
    tr: 'Kart kabul eden kuruluş, ödeme işlemcisiyle iletişime geçmektedir.',
  },
  B0061: { en: 'Exceeds withdrawal amount limit', tr: 'Para çekme tutarı limiti aşıldı.' },
  B0062: { en: 'Restricted card', tr: 'Yasaklanmış kart.' },
  B0063: { en: 'Security violation', tr: 'Güvenlik ihlali.' },
  B0064: { en: 'Original amount incorrect', tr: 'Orijinal tutar yanlış.' },
  B0065: {
    en: 'Exceeds withdrawal count limit OR Identity Check Soft-Decline of EMV 3DS Authentication',
    tr: 'Para çekme işlem adedi limitini aşmaktadır VEYA EMV 3DS kimlik doğrulamasında yumuşak ret.',
  },
  B0066: {
    en: "Card acceptor call acquirer's security department",
    tr: 'Kart kabul eden taraf, üye işyeri bankasının güvenlik departmanını aramalıdır.',
  },
  B0067: {
    en: 'Hard capture (requires that card be picked up at ATM)',
    tr: "Zorla el koyma (kartın ATM'de alıkonulmasını gerektirir).",
  },
  B0068: { en: 'Response received too late', tr: 'Yanıt çok geç alındı.' },
  B0070: { en: 'Contact Card Issuer', tr: 'Kartı veren banka ile iletişime geçiniz.' },
  B0071: { en: 'PIN Not Changed', tr: 'PIN değiştirilmedi.' },
  B0075: { en: 'Allowable number of PIN tries exceeded', tr: 'İzin verilen PIN deneme sayısı aşıldı.' },
  B0076: { en: 'Key synchronisation error', tr: 'Anahtar senkronizasyon hatası.' },
  B0077: { en: 'Decline of Request - No script available', tr: 'Talep reddedildi-Tanımlı işlem akışı yok.' },
  B0078: { en: 'Unsafe PIN', tr: 'Güvensiz PIN.' },
  B0079: { en: 'ARQC failed', tr: 'ARQC doğrulanmadı.' },
  B0080: { en: 'Reserved for private use', tr: 'Özel kullanım için ayrılmıştır.' },
  B0081: {
    en: 'Domestic Debit Transaction Not Allowed (Regional use only)',
    tr: 'Yurt içi debit işlemi yapılamaz (yalnızca bölgesel kullanım).',
  },
  B0082: { en: 'Policy (Mastercard use only)', tr: 'Politika (yalnızca Mastercard kullanımına özeldir).' },
  B0083: {
    en: 'Fraud/Security (Mastercard use only)',
    tr: 'Dolandırıcılık/Güvenlik (yalnızca Mastercard kullanımına özeldir).',
  },
  B0084: { en: 'Invalid Authorization Life Cycle', tr: 'Geçersiz yetkilendirme yaşam döngüsü.' },
  B0085: {
    en: 'Approval of request (for PIN management messages)',
    tr: 'Talep onaylandı (PIN yönetimi mesajları için).',
  },
  B0086: { en: 'PIN Validation not possible', tr: 'PIN doğrulaması yapılamıyor.' },
  B0087: {
    en: 'Purchase Amount Only, No Cash Back Allowed',
    tr: 'Yalnızca alışveriş tutarı geçerlidir, nakit çekim yapılamaz.',
  },
  B0088: { en: 'Cryptographic failure', tr: 'Kriptografik hata.' },
  B0089: {
    en: 'Unacceptable PIN - Transaction Declined - Retry',
    tr: 'PIN kabul edilemez — İşlem reddedildi — Tekrar deneyin.',
  },
  B0090: {
    en: 'Cutoff is in process (transaction can be sent again in a few minutes)',
    tr: 'Gün sonu (cut-off) işlemi devam ediyor (işlem birkaç dakika sonra tekrar gönderilebilir).',
  },
  B0091: {
    en: 'Authorization System or issuer system inoperative',
    tr: 'Yetkilendirme sistemi veya kartı çıkaran banka sistemi çalışmıyor.',
  },
  B0092: { en: 'Unable to route transaction', tr: 'İşlem yönlendirilemedi.' },
  B0093: { en: 'Transaction cannot be completed. Violation of law', tr: 'İşlem tamamlanamaz. Yasal ihlal.' },
  B0095: { en: 'Reconcile error', tr: 'Hesap eşleşme hatası.' },
  B0096: { en: 'System error', tr: 'Sistem hatası.' },
  B0098: { en: 'Duplicate transmission detected', tr: 'Aynı işlem birden fazla gönderildi.' },
  B0100: { en: 'PaymentID is not found', tr: 'Ödeme kimliği bulunamadı.' },
  B0101: { en: 'PaymentID is invalid', tr: 'Ödeme kimliği geçersiz.' },
  B9999: { en: 'Bank Validation Error', tr: 'Banka doğrulama hatası.' },
};

/** Which codes mean what. Every set can be overridden in a dialect's options. */
export interface ResultCodeSets {
  /** Money was taken. */
  readonly approvedCodes: ReadonlySet<string>;
  /** Kinds of approval that are not the whole sale: partial, conditional, VIP. */
  readonly approvalVariantCodes: ReadonlySet<string>;
  /** Do not say whether money moved. */
  readonly indeterminateCodes: ReadonlySet<string>;
  /** No money was taken. */
  readonly declinedCodes: ReadonlySet<string>;
  /** How codes begin that count as declined, too: those of the gateway's own validation. */
  readonly declinedPrefixes: readonly string[];
  /** In a CheckPayment: the card was declined. Only codes that speak of the card, never of the inquiry itself. */
  readonly inquiryDeclinedCodes: ReadonlySet<string>;
  /** In a CheckPayment: the gateway does not know the payment. Believed when said twice, ten minutes apart. */
  readonly notFoundCodes: ReadonlySet<string>;
}

import { postcard } from '../catalogue/pictures.js';
import type { Product } from '../catalogue/product.js';

/** Products whose price ends in digits that make the simulator do something other than approve (`MAGIC_AMOUNTS`). */
export const POSTCARDS: readonly Product[] = [
  {
    id: 'postcard-funds',
    name: { tr: 'Yetersiz bakiye', en: 'Insufficient funds' },
    detail: { tr: 'Banka reddeder (B0051)', en: 'The bank declines (B0051)' },
    kurus: 4_051,
    picture: postcard('#c4653f'),
  },
  {
    id: 'postcard-slow',
    name: { tr: 'Yavaş banka', en: 'Slow bank' },
    detail: { tr: 'Onay birkaç saniye sürer', en: 'Approves after a few seconds' },
    kurus: 4_061,
    picture: postcard('#d9a441'),
  },
  {
    id: 'postcard-unclear',
    name: { tr: 'Belirsiz yanıt', en: 'Unclear answer' },
    detail: {
      tr: 'Kod kararsız (B0096), para çekilir; sorgu aydınlatır',
      en: 'B0096, yet charged: an inquiry finds out',
    },
    kurus: 4_096,
    picture: postcard('#6c9e8f'),
  },
  {
    id: 'postcard-partial',
    name: { tr: 'Kısmi onay', en: 'Partial approval' },
    detail: { tr: 'Yarısı çekilir (B0010): siz karar verirsiniz', en: 'Half is charged (B0010): you decide' },
    kurus: 4_031,
    picture: postcard('#3f6a83'),
  },
];

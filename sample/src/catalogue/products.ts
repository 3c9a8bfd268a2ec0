import { bowl, carafe, cup, plate, teapot, vase } from './pictures.js';
import type { Product } from './product.js';

/** What the shop sells. */
export const PRODUCTS: readonly Product[] = [
  {
    id: 'cup',
    name: { tr: 'Kahve fincanı', en: 'Coffee cup' },
    detail: { tr: 'Kırmızı kil, mat sır, 120 ml', en: 'Red clay, matt glaze, 120 ml' },
    kurus: 42_000,
    picture: cup,
  },
  {
    id: 'bowl',
    name: { tr: 'Kahvaltı kâsesi', en: 'Breakfast bowl' },
    detail: { tr: 'Deniz yeşili sır, 16 cm', en: 'Sea-green glaze, 16 cm' },
    kurus: 56_000,
    picture: bowl,
  },
  {
    id: 'teapot',
    name: { tr: 'Demlik', en: 'Teapot' },
    detail: { tr: 'Elde çekilmiş ağız, 900 ml', en: 'Hand-pulled spout, 900 ml' },
    kurus: 189_000,
    picture: teapot,
  },
  {
    id: 'plate',
    name: { tr: 'Servis tabağı', en: 'Serving plate' },
    detail: { tr: 'Benekli beyaz, 28 cm', en: 'Speckled white, 28 cm' },
    kurus: 78_000,
    picture: plate,
  },
  {
    id: 'carafe',
    name: { tr: 'Sürahi', en: 'Carafe' },
    detail: { tr: 'Gece mavisi sır, 1,2 litre', en: 'Midnight glaze, 1.2 litres' },
    kurus: 124_000,
    picture: carafe,
  },
  {
    id: 'vase',
    name: { tr: 'Zeytin dalı vazosu', en: 'Olive-branch vase' },
    detail: { tr: 'Ham kil, 24 cm', en: 'Raw clay, 24 cm' },
    kurus: 148_000,
    picture: vase,
  },
];

import type { Language } from '../visitor/language.js';
import { en, type Texts } from './en.js';
import { tr } from './tr.js';

export const TEXTS: Readonly<Record<Language, Texts>> = { en, tr };

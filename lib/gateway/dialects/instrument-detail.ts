import type { CallbackFields } from '../gateway-dialect.js';
import { gatherObjects } from './callback-objects.js';

/** In lower case. */
export const INSTRUMENT_DETAIL = 'instrumentdetail';

export function withInstrumentDetail(fields: CallbackFields): CallbackFields {
  return gatherObjects(fields, ['InstrumentDetail']);
}

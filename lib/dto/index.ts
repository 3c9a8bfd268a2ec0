export { CARD_CHECKS, type CardDetails, CardDetailsDto, CheckBinDto } from './card.dto.js';
export * from './gateway.dto.js';
export * from './refund.dto.js';
export * from './sale.dto.js';

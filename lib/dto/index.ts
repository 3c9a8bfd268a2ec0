export * from './auth3d.dto.js';
export * from './card-details.dto.js';
export { CheckBinDto } from './check-bin.dto.js';
export * from './checkout.dto.js';
export * from './do-payment.dto.js';
export * from './gateway-requests.dto.js';
export * from './gateway-responses.dto.js';
export * from './refund.dto.js';

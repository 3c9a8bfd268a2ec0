/**
 * Pages for the people who look after payments.
 *
 * @packageDocumentation
 */

export { type DeskAct, DeskAccess, type DeskRight, type DeskStaff } from './desk-access.js';
export { PaymentDeskModule, type PaymentDeskOptions } from './desk.module.js';

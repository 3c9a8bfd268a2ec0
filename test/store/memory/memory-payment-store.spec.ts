import { MemoryPaymentStore } from '../../../lib/store/memory/memory-payment-store.js';
import { describePaymentStore } from '../contract/payment-store-contract.js';

describePaymentStore('MemoryPaymentStore', { create: (clock) => Promise.resolve(new MemoryPaymentStore({ clock })) });

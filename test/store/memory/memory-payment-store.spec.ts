import { describePaymentStore } from '../../../lib/testing/index.js';
import { MemoryPaymentStore } from '../../../lib/store/memory/memory-payment-store.js';

describePaymentStore('MemoryPaymentStore', { create: (clock) => Promise.resolve(new MemoryPaymentStore({ clock })) });

import type { PaymentStore } from 'nestjs-card-payment';

export async function opened(store: PaymentStore): Promise<PaymentStore> {
  await store.open();
  return store;
}

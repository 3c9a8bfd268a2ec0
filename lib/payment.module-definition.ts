import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { PaymentOptions, PaymentStructure } from './options/payment-options.js';
import { assemble } from './payment.providers.js';
import { PAYMENT_OPTIONS } from './payment.tokens.js';

const STRUCTURE_DEFAULTS: PaymentStructure = { isGlobal: true, callback: {}, name: undefined };

export const { ConfigurableModuleClass, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<PaymentOptions>({ moduleName: 'Payment', optionsInjectionToken: PAYMENT_OPTIONS })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createPaymentOptions')
    .setExtras<PaymentStructure>(STRUCTURE_DEFAULTS, assemble)
    .build();

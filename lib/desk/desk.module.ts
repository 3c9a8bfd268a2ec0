import { type DynamicModule, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModuleRef } from '@nestjs/core';
import { PaymentConfigurationError } from '../errors/payment-errors.js';
import { accountsIn } from '../module/account-registration.js';
import { DeskAccess } from './desk-access.js';
import { createDeskController } from './desk.controller.js';
import { Desk } from './desk.js';

export interface PaymentDeskOptions {
  /** Where its pages are: `desk`, or another path. */
  readonly path?: string;
  /** The host's class that says who may use it. */
  readonly access: Type<DeskAccess>;
  /** The modules that export what that class needs, or the class itself. */
  readonly imports?: ModuleMetadata['imports'];
  /** For all of its routes: `[UseGuards(AdminGuard)]`. */
  readonly decorators?: readonly ClassDecorator[];
}

/** The pages for the people who look after payments. It needs `PaymentModule` in the same application. */
@Module({
  // Only for the bare class, `imports: [PaymentDeskModule]`: forRoot replaces this provider.
  providers: [{ provide: DeskAccess, useFactory: refuseWithoutAccess }],
})
export class PaymentDeskModule {
  static forRoot({ path = 'desk', access, imports = [], decorators, ...others }: PaymentDeskOptions): DynamicModule {
    const isClass = typeof access === 'function';
    return {
      module: PaymentDeskModule,
      imports: [...imports, DiscoveryModule],
      controllers: [createDeskController(path, decorators)],
      providers: [
        Desk,
        {
          provide: DeskAccess,
          // One that a module exports is used as it is.
          inject: [ModuleRef, DiscoveryService, ...(isClass ? [{ token: access, optional: true }] : [])],
          useFactory: async (modules: ModuleRef, discovery: DiscoveryService, exported?: DeskAccess) => {
            // A guard in a misspelt option would guard nothing.
            const [unknown] = Object.keys(others);
            if (unknown !== undefined) throw refusal(unknown, 'is not an option of PaymentDeskModule.forRoot');
            if (accountsIn(discovery).length === 0) throw refusal('imports', 'PaymentModule is needed beside the desk');
            if (!isClass) return refuseWithoutAccess();
            const made = exported ?? (await modules.create(access));
            return typeof made.staffOf === 'function' ? made : refuseWithoutAccess();
          },
        },
      ],
    };
  }
}

function refusal(option: string, message: string): PaymentConfigurationError {
  return new PaymentConfigurationError([{ option, variable: null, message }]);
}

function refuseWithoutAccess(): never {
  const message =
    'is needed: PaymentDeskModule.forRoot({ access: StaffAccess }), where StaffAccess is an injectable class that ' +
    'extends DeskAccess and says who may use the desk';
  throw refusal('access', message);
}

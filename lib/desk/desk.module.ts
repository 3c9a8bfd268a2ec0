import {
  Controller,
  createParamDecorator,
  type DynamicModule,
  type ExecutionContext,
  Inject,
  Module,
  type ModuleMetadata,
  Res,
  type Type,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModuleRef } from '@nestjs/core';
import { PaymentConfigurationError } from '../errors/payment-errors.js';
import { accountsIn } from '../module/account-registration.js';
import { DeskAccess } from './desk-access.js';
import { Desk } from './desk.js';
import { ROUTES } from './routes.js';

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

/** The host's `staffOf` gets it. */
const Context = createParamDecorator((_data: unknown, context: ExecutionContext) => context);

/** Makes the controller of one desk. It has all routes, so that the host's guards are before each. */
function createDeskController(path: string, decorators: readonly ClassDecorator[] = []): Type<unknown> {
  @Controller({ path, version: VERSION_NEUTRAL })
  class PaymentDeskController {
    constructor(@Inject(Desk) readonly desk: Desk) {}
  }
  const { prototype } = PaymentDeskController;
  for (const [name, route] of Object.entries(ROUTES)) {
    const value = function (this: PaymentDeskController, context: ExecutionContext): Promise<void> {
      return this.desk.answer(context, route);
    };
    const method: PropertyDescriptor = { value, configurable: true, writable: true };
    Object.defineProperty(prototype, name, method);
    Context()(prototype, name, 0);
    // Nest leaves the answer to a method that is given the response.
    Res()(prototype, name, 1);
    route.method(route.path)(prototype, name, method);
  }
  for (const decorate of decorators) decorate(PaymentDeskController);
  return PaymentDeskController;
}

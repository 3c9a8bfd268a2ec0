import { Global, Module } from '@nestjs/common';
import { DemoGateway } from './demo-gateway.js';

/** To sell for real: delete this folder and what then fails to compile, and write `PaymentModule.forRoot()`. */
@Global()
@Module({
  providers: [{ provide: DemoGateway, useFactory: () => DemoGateway.start() }],
  exports: [DemoGateway],
})
export class DemoModule {}

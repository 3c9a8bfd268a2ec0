import { Global, Module } from '@nestjs/common';
import { DemoGateway } from './demo-gateway.js';

/** For a real shop, delete this folder and the code that then does not compile, and use `PaymentModule.forRoot()`. */
@Global()
@Module({
  providers: [{ provide: DemoGateway, useFactory: () => DemoGateway.start() }],
  exports: [DemoGateway],
})
export class DemoModule {}

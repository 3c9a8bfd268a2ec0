import 'nestjs-card-payment/swagger';
import { NestFactory } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { AppModule } from './app.module.js';

async function printDocument(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'fatal'], abortOnError: false });
  const document = SwaggerModule.createDocument(app, new DocumentBuilder().setTitle('Shop').build());
  await app.close();
  process.stdout.write(`${JSON.stringify(document)}\n`);
}

void printDocument();

/** What docs/orders.md leaves to its reader: the shop's own entities, client and module. */
export const SHOP_OF_ORDERS: Readonly<Record<string, string>> = {
  'src/typeorm/entities.ts': `import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('orders')
export class Order {
  @PrimaryColumn('text')
  id!: string;

  @Column('numeric', { precision: 15, scale: 2 })
  total!: string;

  @Column('text')
  productId!: string;

  @Column('text', { nullable: true })
  paidBy!: string | null;

  @Column('boolean', { default: false })
  receiptDue!: boolean;
}

@Entity('products')
export class Product {
  @PrimaryColumn('text')
  id!: string;

  @Column('integer')
  stock!: number;
}
`,
  'src/typeorm/app.module.ts': `import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { TypeOrmModule } from '@nestjs/typeorm';
import { PaymentModule } from 'nestjs-card-payment';
import { Order, Product } from './entities.js';
import { HandledEvent } from './handled-event.js';
import { OrderService } from './order.service.js';

@Module({
  imports: [
    ConfigModule.forRoot(),
    TypeOrmModule.forRootAsync({
      useFactory: () => ({
        type: 'postgres',
        url: process.env.DATABASE_URL,
        entities: [Order, Product, HandledEvent],
        synchronize: process.env.NODE_ENV !== 'production',
      }),
    }),
    PaymentModule.forRoot(),
  ],
  providers: [OrderService],
})
export class AppModule {}
`,
  'prisma.config.ts': `import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'prisma',
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
`,
  'prisma/schema.prisma': `generator client {
  provider = "prisma-client"
  output   = "../src/generated/prisma"
}

datasource db {
  provider = "postgresql"
}

model Order {
  id         String  @id
  total      Decimal @db.Decimal(15, 2)
  product    Product @relation(fields: [productId], references: [id])
  productId  String
  paidBy     String?
  receiptDue Boolean @default(false)

  @@map("orders")
}

model Product {
  id     String  @id
  stock  Int
  orders Order[]

  @@map("products")
}
`,
  'src/prisma/prisma.service.ts': `import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../generated/prisma/client.js';

@Injectable()
export class PrismaService extends PrismaClient implements OnModuleDestroy {
  constructor() {
    super({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });
  }

  async onModuleDestroy(): Promise<void> {
    await this.$disconnect();
  }
}
`,
  'src/prisma/app.module.ts': `import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { PaymentModule } from 'nestjs-card-payment';
import { OrderService } from './order.service.js';
import { PrismaService } from './prisma.service.js';

@Module({
  imports: [ConfigModule.forRoot(), PaymentModule.forRoot()],
  providers: [PrismaService, OrderService],
})
export class AppModule {}
`,
};

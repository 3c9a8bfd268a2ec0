import { applyDecorators, UseGuards } from '@nestjs/common';
import { SkipThrottle, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';

const AN_HOUR_MS = 3_600_000;

/**
 * Against card testing: criminals who hold thousands of stolen numbers try them in somebody's checkout to see which ones
 * a bank approves. The shop pays for it in fees, disputes and, in the end, its contract. So a visitor and an order have
 * so many attempts an hour, mistyped cards included, and a visitor can place so many orders to try them on. 3D Secure is
 * the other half of the defence; what passes both shows as a rising share of declined payments.
 *
 * The counts are this process's own. With several, give them a storage in common (`storage`), and behind a proxy set
 * `SHOP_PROXIES`, without which all visitors have its address.
 */
export const AttemptLimits = ThrottlerModule.forRootAsync({
  useFactory: () => {
    const perVisitor = Number(process.env.SHOP_ATTEMPTS_PER_VISITOR ?? 20);
    return {
      setHeaders: false,
      // One count for all routes, where @nestjs/throttler would have one for each: page and API are two ways to try a card.
      generateKey: (_context, tracker, name) => `${name} ${tracker}`,
      // The visitor first: whoever is over that limit cannot use up those of orders.
      throttlers: [
        { name: 'visitor', ttl: AN_HOUR_MS, limit: perVisitor },
        {
          name: 'order',
          ttl: AN_HOUR_MS,
          limit: Number(process.env.SHOP_ATTEMPTS_PER_ORDER ?? 8),
          getTracker: (request) => String((request as Request).params.id),
        },
        { name: 'placing', ttl: AN_HOUR_MS, limit: perVisitor },
      ],
    };
  },
});

/** Of a route that tries a card. */
export const LimitsAttempts = (): MethodDecorator & ClassDecorator =>
  applyDecorators(UseGuards(ThrottlerGuard), SkipThrottle({ placing: true }));

/** Of a route that places an order. */
export const LimitsOrders = (): MethodDecorator & ClassDecorator =>
  applyDecorators(UseGuards(ThrottlerGuard), SkipThrottle({ visitor: true, order: true }));

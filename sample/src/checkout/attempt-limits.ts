import { applyDecorators, UseGuards } from '@nestjs/common';
import { SkipThrottle, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';

const AN_HOUR_MS = 3_600_000;

/**
 * Limits against card testing: criminals who have thousands of stolen numbers try them in a checkout to see which ones
 * a bank approves. The shop pays for it with fees, disputes and, in the end, its contract. So the attempts of a visitor
 * and those of an order are limited for an hour, mistyped cards included, and so are the orders that a visitor can
 * place. 3D Secure is the other half of the defence. Attempts that pass both show as a rising share of declined
 * payments.
 *
 * Each process has its own counts. With several processes, give them a shared `storage`. Behind a proxy, set
 * `SHOP_PROXIES`, or all visitors have the proxy's address.
 */
export const AttemptLimits = ThrottlerModule.forRootAsync({
  useFactory: () => {
    const perVisitor = Number(process.env.SHOP_ATTEMPTS_PER_VISITOR ?? 20);
    return {
      setHeaders: false,
      // One count for all routes (by default there is one for each), because page and API are two ways to try a card.
      generateKey: (_context, tracker, name) => `${name} ${tracker}`,
      // The visitor's limit comes first, so that a visitor who is over it cannot use up the limits of orders.
      throttlers: [
        { name: 'visitor', ttl: AN_HOUR_MS, limit: perVisitor },
        {
          name: 'order',
          ttl: AN_HOUR_MS,
          limit: Number(process.env.SHOP_ATTEMPTS_PER_ORDER ?? 8),
          getTracker: (request) => String((request as Request).params.id),
        },
        { name: 'placing', ttl: AN_HOUR_MS, limit: perVisitor },
        // Each lookup may be a request to the gateway. A buyer who mistypes a few cards needs no more.
        { name: 'lookup', ttl: AN_HOUR_MS, limit: 5 * perVisitor },
      ],
    };
  },
});

/** For a route that tries a card. */
export const LimitsAttempts = (): MethodDecorator & ClassDecorator =>
  applyDecorators(UseGuards(ThrottlerGuard), SkipThrottle({ placing: true, lookup: true }));

/** For a route that places an order. */
export const LimitsOrders = (): MethodDecorator & ClassDecorator =>
  applyDecorators(UseGuards(ThrottlerGuard), SkipThrottle({ visitor: true, order: true, lookup: true }));

/** For a route that asks the gateway what a card is. */
export const LimitsLookUps = (): MethodDecorator & ClassDecorator =>
  applyDecorators(UseGuards(ThrottlerGuard), SkipThrottle({ visitor: true, order: true, placing: true }));

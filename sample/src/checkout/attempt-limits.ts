import { ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';

const AN_HOUR_MS = 3_600_000;

/**
 * Against card testing: criminals who hold thousands of stolen numbers try them in somebody's checkout to see which ones
 * a bank approves. The shop pays for it in fees, disputes and, in the end, its contract. So a visitor and an order have
 * so many attempts an hour, mistyped cards included. 3D Secure is the other half of the defence; what passes both shows
 * as a rising share of declined payments.
 *
 * The counts are this process's own. With several, give them a storage in common (`storage`), and behind a proxy set
 * `SHOP_PROXIES`, without which all visitors have its address.
 */
export const AttemptLimits = ThrottlerModule.forRootAsync({
  useFactory: () => ({
    setHeaders: false,
    // The visitor first: whoever is over that limit cannot use up those of orders.
    throttlers: [
      { name: 'visitor', ttl: AN_HOUR_MS, limit: Number(process.env.SHOP_ATTEMPTS_PER_VISITOR ?? 20) },
      {
        name: 'order',
        ttl: AN_HOUR_MS,
        limit: Number(process.env.SHOP_ATTEMPTS_PER_ORDER ?? 8),
        getTracker: (request) => String((request as Request).params.id),
      },
    ],
  }),
});

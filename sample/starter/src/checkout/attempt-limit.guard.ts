import { isIPv6 } from 'node:net';
import {
  type CanActivate,
  type ExecutionContext,
  HttpException,
  Injectable,
} from '@nestjs/common';

const AN_HOUR_MS = 3_600_000;

/**
 * Limits orders and attempts to pay (mistyped ones, too) from one address in an
 * hour, against card testing.
 */
@Injectable()
export class AttemptLimit implements CanActivate {
  private attempts = new Map<string, number>();
  private endsAt = 0;

  canActivate(context: ExecutionContext): boolean {
    const { ip = '' } = context.switchToHttp().getRequest<{ ip?: string }>();
    if (Date.now() >= this.endsAt) {
      this.attempts = new Map();
      this.endsAt = Date.now() + AN_HOUR_MS;
    }
    // An IPv6 user has all 2^64 addresses of a network.
    const [start = ''] = ip.split('::');
    const network =
      isIPv6(ip) && !ip.includes('.')
        ? start.split(':').slice(0, 4).join(':')
        : ip;
    const count = (this.attempts.get(network) ?? 0) + 1;
    this.attempts.set(network, count);
    if (count > 20) throw new HttpException('Too many attempts', 429);
    return true;
  }
}

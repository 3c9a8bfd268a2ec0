import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Get, Req, Res, UseGuards } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import { PaymentHealthIndicator } from 'nestjs-card-payment/health';
import { StaffGuard } from '../staff/staff.guard.js';
import { prometheus } from './telemetry.js';

/** Health and metrics, for load balancers, Prometheus and people. */
@Controller()
export class ObservabilityController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly payments: PaymentHealthIndicator,
  ) {}

  /** For a load balancer: 200 or 503. The figures are for staff only. */
  @Get('health')
  @HealthCheck()
  async isUp(): Promise<Pick<HealthCheckResult, 'status'>> {
    const { status } = await this.figures();
    return { status };
  }

  @Get('admin/health')
  @UseGuards(StaffGuard)
  @HealthCheck()
  figures(): Promise<HealthCheckResult> {
    return this.health.check([() => this.payments.check()]);
  }

  @Get('metrics')
  @UseGuards(StaffGuard)
  metrics(@Req() request: IncomingMessage, @Res() response: ServerResponse): void {
    prometheus.getMetricsRequestHandler(request, response);
  }
}

import { HttpService } from '@nestjs/axios';
import type { AxiosInstance } from 'axios';

/** The `HttpService` that a host gets. It notices when someone takes the axios instance, to add interceptors to it. */
export class GatewayHttp extends HttpService {
  private isTaken = false;

  override get axiosRef(): AxiosInstance {
    this.isTaken = true;
    return super.axiosRef;
  }

  /** Whether the axios instance may have been changed: nobody else can reach it. */
  get mayHaveInterceptors(): boolean {
    return this.isTaken;
  }
}

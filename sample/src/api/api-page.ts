import 'nestjs-card-payment/swagger';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';

export const API_PAGE = '/docs';

/** The page has inline styles, and sends requests that the reader tries out. */
export const API_PAGE_POLICY =
  "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Serves the description of the routes under `/api`; the others are pages. */
export function serveApiPage(app: INestApplication): void {
  const settings = new DocumentBuilder().setTitle('Sample shop').setVersion('1').build();
  SwaggerModule.setup(API_PAGE, app, () => {
    const document = SwaggerModule.createDocument(app, settings);
    const paths = Object.entries(document.paths).filter(([path]) => path.startsWith('/api/'));
    return { ...document, paths: Object.fromEntries(paths) };
  });
}

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Pool } from 'pg';
import { postgresPaymentStore } from '../../../../../lib/store/sql/index.js';

const AUTHENTICATION_OK = message('R', Buffer.from([0, 0, 0, 0]));
const READY_FOR_QUERY = message('Z', Buffer.from('I'));
const TERMINATED = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'));

function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

/** Accepts each connection and ends it in the same breath, as a server does that is told to shut down. */
describe('a PostgreSQL that ends a connection as soon as it is made', () => {
  const sockets = new Set<Socket>();
  let server: Server;
  let connectionString: string;
  beforeAll(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATION_OK, READY_FOR_QUERY, TERMINATED])));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    connectionString = `postgres://shop:password@127.0.0.1:${(server.address() as AddressInfo).port}/payments`;
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it("fails the store's call and does not end the process", async () => {
    const store = postgresPaymentStore({ connectionString });
    await expect(store.open()).rejects.toThrow('PostgreSQL');
    await store.close();
  });

  it('nor does it with a pool that the host gave', async () => {
    const pool = new Pool({ connectionString });
    pool.on('error', () => undefined);
    const store = postgresPaymentStore({ pool });
    await expect(store.open()).rejects.toThrow('PostgreSQL');
    await store.close();
    await pool.end();
  });
});

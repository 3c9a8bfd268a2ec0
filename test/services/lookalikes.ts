import { createServer, type Server, type Socket } from 'node:net';
import { type Connection, createServer as createMysqlServer } from 'mysql2';
import { freePort } from './server.js';

type Rows = readonly Readonly<Record<string, string>>[];

/** An error in place of rows: its code, and its text. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** A server that speaks a database's protocol and answers as it is told. It keeps nothing. */
export interface Lookalike {
  readonly url: string;
  /** All that was asked of it. */
  readonly asked: readonly string[];
  stop(): Promise<void>;
}

export type Answers = (sql: string) => Rows | Refusal;

function isRefusal(answer: Rows | Refusal): answer is Refusal {
  return 'code' in answer;
}

const CREDENTIALS = 'shop:password-of-the-shop';

/** How a MySQL server describes a column of texts. */
const MYSQL_TEXT = {
  catalog: 'def',
  schema: '',
  table: '',
  orgTable: '',
  characterSet: 45,
  columnLength: 1_024,
  columnType: 253,
  flags: 0,
  decimals: 0,
};
/** All but TLS. */
const MYSQL_CAPABILITIES = 0xffffff & ~0x800;

export async function startMysqlLookalike(answers: Answers): Promise<Lookalike> {
  const asked: string[] = [];
  const connections = new Set<Connection>();
  const port = await freePort();
  const answer = (connection: Connection, sql: string): void => {
    asked.push(sql);
    // The server of mysql2 does not count the packets of each question anew.
    connection.sequenceId = 1;
    write(connection, sql, answers(sql));
    connection.sequenceId = 0;
  };
  const write = (connection: Connection, sql: string, given: Rows | Refusal): void => {
    if (isRefusal(given)) return connection.writeError({ message: given.message, code: Number(given.code) });
    if (given.length === 0 && !/^(select|show)/i.test(sql)) return connection.writeOk();
    const columns = Object.keys(given[0] ?? { none: '' }).map((name) => ({ ...MYSQL_TEXT, name, orgName: name }));
    connection.writeTextResult([...given], columns);
  };
  const server = createMysqlServer((connection) => {
    connections.add(connection);
    connection.on('error', () => undefined);
    connection.on('query', (sql: string) => answer(connection, sql));
    // The server of mysql2 takes each "set" for one.
    connection.on('stmt_prepare', (sql: string) => answer(connection, sql));
    connection.serverHandshake({
      protocolVersion: 10,
      serverVersion: '8.0.11',
      connectionId: connections.size,
      statusFlags: 2,
      characterSet: 45,
      capabilityFlags: MYSQL_CAPABILITIES,
      authCallback(_credentials: unknown, letIn: (error: null) => void) {
        letIn(null);
        connection.sequenceId = 0;
      },
    });
  });
  await new Promise<void>((resolve) => {
    (server as unknown as Pick<Server, 'listen'>).listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `mysql://${CREDENTIALS}@127.0.0.1:${port}/shop`,
    asked,
    stop() {
      for (const connection of connections) connection.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const SSL_REQUEST = 80_877_103;
const READY = message('Z', 'I');
const OF_TEXT = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0]);

/** @param refusedSetting a setting with which no session may begin */
export async function startPostgresLookalike(answers: Answers, refusedSetting?: string): Promise<Lookalike> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const answer = (sql: string): Rows | Refusal => {
    asked.push(sql);
    return answers(sql);
  };
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let received = Buffer.alloc(0);
    let hasBegun = false;
    let prepared: Rows | Refusal = [];
    const take = (type: string, content: Buffer): Buffer[] => {
      if (type === 'Q') {
        const given = answer(textsIn(content)[0] ?? '');
        return [...(isRefusal(given) ? [errorOf('ERROR', given)] : [columnsOf(given), rowsOf(given)]), READY];
      }
      if (type === 'P') prepared = answer(textsIn(content)[1] ?? '');
      if (type === 'S') return [READY];
      // After an error, everything up to the next S is passed over.
      if (isRefusal(prepared)) return type === 'P' ? [errorOf('ERROR', prepared)] : [];
      if (type === 'P') return [message('1', '')];
      if (type === 'B') return [message('2', '')];
      if (type === 'D') return [columnsOf(prepared)];
      return type === 'E' ? [rowsOf(prepared)] : [];
    };
    const begin = (content: Buffer): Buffer[] => {
      if (content.readInt32BE(0) === SSL_REQUEST) return [Buffer.from('N')];
      hasBegun = true;
      if (refusedSetting !== undefined && textsIn(content.subarray(4)).includes(refusedSetting)) {
        const text = `unrecognized configuration parameter "${refusedSetting}"`;
        socket.end(errorOf('FATAL', { code: '42704', message: text }));
        return [];
      }
      return [message('R', '\0\0\0\0'), READY];
    };
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (;;) {
        const head = hasBegun ? 1 : 0;
        if (received.length < head + 4 || received.length < head + received.readInt32BE(head)) return;
        const end = head + received.readInt32BE(head);
        const [type, content] = [received.toString('latin1', 0, head), received.subarray(head + 4, end)];
        received = received.subarray(end);
        if (type === 'X') return void socket.end();
        for (const reply of head === 0 ? begin(content) : take(type, content)) socket.write(reply);
      }
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `postgres://${CREDENTIALS}@127.0.0.1:${port}/shop`,
    asked,
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function textsIn(content: Buffer): string[] {
  return content.toString('utf8').split('\0');
}

function message(type: string, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string, 'utf8');
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length + 4);
  return Buffer.concat([Buffer.from(type), length, bytes]);
}

function errorOf(severity: string, { code, message: text }: Refusal): Buffer {
  return message('E', `S${severity}\0V${severity}\0C${code}\0M${text}\0\0`);
}

function int(bytes: 2 | 4, value: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
}

function columnsOf(rows: Rows): Buffer {
  const names = Object.keys(rows[0] ?? {});
  return message(
    'T',
    Buffer.concat([int(2, names.length), ...names.flatMap((name) => [Buffer.from(`${name}\0`), OF_TEXT])]),
  );
}

function rowsOf(rows: Rows): Buffer {
  const lines = rows.map((row) => {
    const values = Object.values(row).map((value) => Buffer.from(value));
    return message(
      'D',
      Buffer.concat([int(2, values.length), ...values.flatMap((value) => [int(4, value.length), value])]),
    );
  });
  return Buffer.concat([...lines, message('C', `SELECT ${rows.length}\0`)]);
}

// Every call of the product, to be made while something is wrong with it.
import { API_KEY, type Product, signedToken } from './product.ts';
import type { Frame, RawSocket } from './raw-socket.ts';
import { type Call, greeted, type HttpCall, type Outcome, overHttp, overSocket } from './told-outcome.ts';

/** Unread of each user before the first call. */
export const MESSAGES = 3;

/** Well within the heartbeats of the tests. */
const BEAT_MS = 1000;

export const withKey = { authorization: `Bearer ${API_KEY}` };

/** Every call there is, once, over HTTP and WebSocket; each by a user of its own with a conversation and unread messages in it. */
export class CallWave {
  readonly #product: Product;
  readonly #name: string;
  readonly users = new Set<string>();
  /** What was acknowledged to a device or a server: user to read position. */
  readonly acked = new Map<string, number>();
  /** Refused: to be asked for again, as its caller would. */
  readonly owed: Call[] = [];
  readonly #sockets = new Map<string, RawSocket>();
  #beats: NodeJS.Timeout | undefined;

  constructor(product: Product, name: string) {
    this.#product = product;
    this.#name = name;
  }

  async prepare(): Promise<void> {
    const users = [...this.calls(), { name: 'cold hello' }].map(({ name }) => this.user(name));
    // Not all at once: that would be the heaviest call of the test, and it has to be answered in time like any other.
    for (const user of users) {
      const messages = Array.from({ length: MESSAGES }, (_, i) => ({
        type: 'message.created',
        conv: `c-${user}`,
        message_id: `m${i + 1}`,
        sender: 'bob',
        members: [user, 'bob'],
      }));
      await this.#product.post(...messages);
    }
    for (const user of users) if (!user.includes('cold')) await this.#product.unread(user);
    for (const name of SOCKET_CALLS) {
      const socket = await greeted(this.#product.url, this.user(name), 'phone');
      if ('fault' in socket) throw new Error(`not greeted: ${socket.fault}`);
      this.#sockets.set(name, socket);
    }
    // They answer no ping of the server, which would take them for dead.
    this.#beats = setInterval(() => {
      for (const socket of this.#sockets.values()) socket.send({ t: 'ping' });
    }, BEAT_MS).unref();
  }

  close(): void {
    clearInterval(this.#beats);
    for (const socket of this.#sockets.values()) socket.cut();
  }

  user(call: string): string {
    const user = `${this.#name}-${call.replaceAll(/[^a-z]+/gi, '-')}`;
    this.users.add(user);
    return user;
  }

  calls(): Call[] {
    const calls = [...this.#posts(), ...this.#reads(), ...this.#commands(), ...this.#care(), ...this.#frames()];
    return calls.map((call) => ({
      name: call.name,
      run: async () => {
        const outcome = await call.run();
        if (outcome.isRefused) this.owed.push(call);
        return outcome;
      },
    }));
  }

  #http(name: string, call: Omit<HttpCall, 'headers'> & { headers?: Record<string, string> }): Call {
    return { name, run: () => overHttp(this.#product.url, { headers: withKey, ...call }) };
  }

  #posts(): Call[] {
    const event = (type: string, fields: (conv: string, user: string) => object): Call => {
      const name = `event ${type}`;
      const user = this.user(name);
      const sent = { type, conv: `c-${user}`, event_id: `${this.#name}-${type}`, ...fields(`c-${user}`, user) };
      const isRight = ({ results }: Record<string, unknown>) => (results as { ok: boolean }[])[0]?.ok === true;
      return this.#http(name, { method: 'POST', path: '/v1/events', body: { events: [sent] }, isRight });
    };
    return [
      event('message.created', () => ({ message_id: 'm9', sender: 'bob' })),
      event('conversation.created', (conv, user) => ({ conv: `${conv}-2`, members: [user, 'bob'] })),
      event('message.recalled', () => ({ message_id: 'm3' })),
      event('message.edited', (_, user) => ({ message_id: 'm3', mentions: [user] })),
      event('member.joined', () => ({ users: ['carl'] })),
      event('member.left', () => ({ users: ['bob'] })),
      event('conversation.purged', () => ({ up_to_seq: 1 })),
      event('conversation.dissolved', () => ({})),
    ];
  }

  #reads(): Call[] {
    const hasAll = (body: object) => 'total' in body && body.total === MESSAGES;
    const read = (name: string, path: (user: string) => string, isRight: HttpCall['isRight'], body?: object): Call => {
      const user = this.user(name);
      const method = body === undefined ? 'GET' : 'POST';
      return this.#http(name, { method, path: path(user), isRight, ...(body === undefined ? {} : { body }) });
    };
    const of = (name: string) => this.user(name);
    const asUser = (name: string) => ({ authorization: `Bearer ${signedToken(of(name))}` });
    const oneRow = ({ rows }: Record<string, unknown>) => (rows as { unread: number }[])[0]?.unread === MESSAGES;
    return [
      read('GET unread', (user) => `/v1/users/${user}/unread`, hasAll),
      read('GET unread, cold', (user) => `/v1/users/${user}/unread`, hasAll),
      read(
        'batchGet users',
        () => '/v1/unread:batchGet',
        ({ users }) => (users as object[]).every(hasAll),
        { users: [of('batchGet users')] },
      ),
      read('batchGet convs', (user) => `/v1/users/${user}/unread:batchGet`, oneRow, {
        convs: [`c-${of('batchGet convs')}`],
      }),
      read(
        'check',
        () => '/v1/conversations:check',
        ({ differ }) => (differ as []).length === 0,
        {
          items: [{ conv: `c-${of('check')}`, head_seq: MESSAGES, countable: MESSAGES }],
        },
      ),
      this.#http('GET sync', { method: 'GET', path: '/v1/sync', headers: asUser('GET sync'), isRight: hasAll }),
      this.#http('GET sync, cold', {
        method: 'GET',
        path: '/v1/sync',
        headers: asUser('GET sync, cold'),
        isRight: hasAll,
      }),
    ];
  }

  #commands(): Call[] {
    const command = (name: string, method: string, path: string, body?: object): Call => {
      const user = this.user(name);
      const call = this.#http(name, {
        method,
        path: `/v1/users/${user}${path.replace(':conv', `conversations/c-${user}`)}`,
        isRight: ({ items }) => Array.isArray(items),
        ...(body === undefined ? {} : { body }),
      });
      return { name, run: async () => this.#noted(user, name, await call.run()) };
    };
    const items = [{ conv: `c-${this.user('POST read')}`, seq: 2 }];
    return [
      command('POST read', 'POST', '/read', { items }),
      command('POST read_all', 'POST', '/read_all', {}),
      command('POST mark', 'POST', '/:conv/mark', { from_seq: 2 }),
      command('PUT prefs', 'PUT', '/:conv/prefs', { muted: true }),
      command('DELETE conversation', 'DELETE', '/:conv?up_to_seq=2'),
    ];
  }

  #care(): Call[] {
    const users = [this.user('reconcile'), this.user('reconcile second')];
    const explained = this.user('explain');
    const inspected = this.user('inspect');
    const open = (name: string, path: string): Call => this.#http(name, { method: 'GET', path, isRight: () => true });
    return [
      this.#http('reconcile', {
        method: 'POST',
        path: '/v1/reconcile',
        body: { users, repair: true },
        isRight: ({ wrong }) => wrong === 0,
      }),
      this.#http('explain', {
        method: 'GET',
        path: `/v1/users/${explained}/conversations/c-${explained}/explain`,
        isRight: ({ unread }) => unread === MESSAGES,
      }),
      this.#http('inspect', {
        method: 'GET',
        path: `/v1/users/${inspected}/inspect`,
        isRight: ({ truth }) => (truth as { total: number }).total === MESSAGES,
      }),
      this.#http('disconnect', {
        method: 'POST',
        path: `/v1/users/${this.user('disconnect')}/disconnect`,
        body: {},
        isRight: () => true,
      }),
      open('healthz', '/healthz'),
      open('readyz', '/readyz'),
      open('metrics', '/metrics'),
    ];
  }

  #frames(): Call[] {
    const commands = SOCKET_CALLS.map((name): Call => {
      const user = this.user(name);
      return {
        name,
        run: async () => {
          const socket = this.#sockets.get(name) as RawSocket;
          const { frame, answer, isRight = () => true } = frameOf(name, user, socket.log[0] as Frame);
          return this.#noted(user, name, await overSocket(socket, frame, answer, isRight));
        },
      };
    });
    const hello = (name: string): Call => ({
      name,
      run: async () => {
        const socket = await greeted(this.#product.url, this.user(name), 'tablet');
        if ('fault' in socket) return socket;
        const { log } = socket;
        socket.cut();
        const isRight = log[0]?.['total'] === MESSAGES;
        return { isRefused: false, fault: isRight ? null : `a wrong welcome: ${JSON.stringify(log[0])}` };
      },
    });
    return [...commands, hello('hello'), hello('hello, cold')];
  }

  #noted(user: string, name: string, outcome: Outcome): Outcome {
    const upTo = ACKED_UP_TO[name];
    if (!outcome.isRefused && upTo !== undefined) this.acked.set(user, upTo);
    return outcome;
  }
}

/** Read positions that an answer promises. */
const ACKED_UP_TO: Readonly<Record<string, number>> = {
  'POST read': 2,
  'POST read_all': MESSAGES,
  'ws ack': 2,
};
const SOCKET_CALLS = [
  'ws ack',
  'ws mark',
  'ws prefs',
  'ws clear',
  'ws read_all',
  'ws sync',
  'ws sync, anew',
  'ws ping',
  'ws auth',
];

interface SocketCall {
  readonly frame: Frame & { readonly id?: number };
  readonly answer: string;
  readonly isRight?: (answer: Frame) => boolean;
}

function frameOf(name: string, user: string, { sync_version }: Frame): SocketCall {
  const conv = `c-${user}`;
  const acked = (frame: Frame) => ({ frame: { id: 1, ...frame }, answer: 'acked' });
  switch (name) {
    case 'ws ack':
      return acked({ t: 'ack', items: [{ conv, seq: 2 }] });
    case 'ws mark':
      return acked({ t: 'mark', conv, from_seq: 2 });
    case 'ws prefs':
      return acked({ t: 'prefs', conv, muted: true });
    case 'ws clear':
      return acked({ t: 'clear', conv, up_to_seq: 2 });
    case 'ws read_all':
      return acked({ t: 'read_all', sync_version });
    case 'ws sync':
      return sync({ epoch: 'another', sync_version: 1 });
    case 'ws sync, anew':
      return sync(null);
    case 'ws ping':
      return { frame: { t: 'ping' }, answer: 'hb' };
    default:
      return { frame: { t: 'auth', token: signedToken(user) }, answer: 'auth_ok' };
  }
  function sync(cursor: object | null): SocketCall {
    const isRight = ({ total }: Record<string, unknown>) => total === MESSAGES;
    return { frame: { t: 'sync', cursor }, answer: 'synced', isRight };
  }
}

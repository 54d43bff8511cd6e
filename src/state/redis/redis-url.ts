/**
 * Where the state store is:
 *
 *   redis://[user:password@]host[:port][/db]                          one server
 *   redis+sentinel://[user:password@]host[:port],…/master-name[/db]   a master that Sentinels know
 *   redis+cluster://[user:password@]host[:port],…                     a Cluster, by any of its nodes
 *
 * rediss: with TLS. User and password are those of the data servers; Sentinels may have a password of their own (?sentinelPassword=).
 */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface RedisUrl {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  readonly endpoints: readonly Endpoint[];
  readonly isTls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly db: number;
  /** Of Sentinel: under which name it knows the master. */
  readonly masterName: string;
  readonly sentinelPassword: string | undefined;
}

const PORTS = { single: 6379, sentinel: 26_379, cluster: 6379 } as const;
const URL_FORM = /^(redis|rediss)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?]+)([^?]*)(?:\?(.*))?$/;

/** Throws an Error that says what is wrong, and shows nothing of a password. */
export function parseRedisUrl(text: string): RedisUrl {
  const [, scheme, form = 'single', login, hosts = '', path = '', query = ''] = URL_FORM.exec(text) ?? [];
  if (scheme === undefined) throw new Error('no URL of Redis (redis://, redis+sentinel:// or redis+cluster://)');
  const kind = form as RedisUrl['kind'];
  const endpoints = hosts.split(',').map((one) => parseEndpoint(one, PORTS[kind]));
  if (kind === 'single' && endpoints.length > 1)
    throw new Error('several hosts; redis+sentinel:// or redis+cluster:// takes them');
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent);
  const masterName = kind === 'sentinel' ? parts.shift() : '';
  if (masterName === undefined) throw new Error('no name of the master; redis+sentinel://host:port/name');
  const db = parseDb(parts);
  if (kind === 'cluster' && db !== 0) throw new Error('a Cluster has no numbered databases');
  const colon = login?.indexOf(':') ?? -1;
  const [user, password] =
    login === undefined ? [] : colon < 0 ? [login] : [login.slice(0, colon), login.slice(colon + 1)];
  return {
    kind,
    endpoints,
    isTls: scheme === 'rediss',
    username: user ? decodeURIComponent(user) : undefined,
    password: password ? decodeURIComponent(password) : undefined,
    db,
    masterName,
    sentinelPassword: new URLSearchParams(query).get('sentinelPassword') ?? undefined,
  };
}

function parseEndpoint(text: string, standardPort: number): Endpoint {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const number = port === undefined ? standardPort : Number(port);
  if (host === undefined || number < 1 || number > 65_535)
    throw new Error('a host that cannot be read; host:port, or [address]:port');
  return { host, port: number };
}

function parseDb(parts: readonly string[]): number {
  const [text = '0'] = parts;
  if (parts.length > 1 || !/^\d{1,4}$/.test(text)) throw new Error('a path that is no number of a database');
  return Number(text);
}

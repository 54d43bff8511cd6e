import { isIPv6 } from 'node:net';

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;
const IPV4_IN_IPV6 = '::ffff:';
/** Groups of an address that name the network of one subscriber (/64). */
const NETWORK_GROUPS = 4;

/** How many sockets this node, and one address, may hold; from the handshake to the close. */
export class ConnectionLimits {
  readonly #max: number;
  readonly #perAddressMax: number;
  readonly #perAddress = new Map<string, number>();
  #count = 0;

  constructor(max: number, perAddressMax: number) {
    this.#max = max;
    this.#perAddressMax = perAddressMax;
  }

  get count(): number {
    return this.#count;
  }

  /** Why one more from this address is not admitted; null: it is. */
  refusal(address: string): 'node_full' | 'address_full' | null {
    if (this.#count >= this.#max) return 'node_full';
    const network = networkOf(address);
    const isFull = network !== null && (this.#perAddress.get(network) ?? 0) >= this.#perAddressMax;
    return isFull ? 'address_full' : null;
  }

  enter(address: string): void {
    this.#count++;
    const network = networkOf(address);
    if (network !== null) this.#perAddress.set(network, (this.#perAddress.get(network) ?? 0) + 1);
  }

  leave(address: string): void {
    this.#count--;
    const network = networkOf(address);
    if (network === null) return;
    const left = (this.#perAddress.get(network) ?? 0) - 1;
    if (left > 0) this.#perAddress.set(network, left);
    else this.#perAddress.delete(network);
  }
}

/** Null: not limited. */
function networkOf(address: string): string | null {
  if (address === '' || LOOPBACK.test(address)) return null;
  if (address.startsWith(IPV4_IN_IPV6)) return address.slice(IPV4_IN_IPV6.length);
  if (!isIPv6(address)) return address;
  const [front = '', back] = address.split('::');
  const groups = front === '' ? [] : front.split(':');
  if (back !== undefined) {
    const tail = back === '' ? 0 : back.split(':').length;
    while (groups.length < 8 - tail) groups.push('0');
  }
  return groups.slice(0, NETWORK_GROUPS).join(':');
}

// Those of the protocol's limits that a client needs. The whole table would be 2 % of the bundle; the compiler sees to it
// that the values are the same.
import type { limits } from '../protocol/limits.ts';

type Limits = typeof limits;

export const ACK_ITEMS_MAX: Limits['ackItemsMax'] = 200;
export const FRAME_BYTES_MAX: Limits['frameBytesMax'] = 65_536;
export const ID_BYTES_MAX: Limits['idBytesMax'] = 128;
export const RETRY_MS_MIN: Limits['retryMsMin'] = 500;
export const RETRY_MS_MAX: Limits['retryMsMax'] = 30_000;

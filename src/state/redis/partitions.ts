/**
 * Users are spread over 256 partitions; all keys of one carry the same hash tag, so that one call can serve many of its users, on
 * Redis Cluster too. The tags are chosen so that partition p lies in the p-th 256th of the slots: then masters that share the slots
 * evenly share the partitions evenly (plain numbers as tags were seen to spread 27/15/22/23/16/25 over six nodes).
 */
export const PARTITIONS = 256;
export const SLOTS = 16_384;

const SLOTS_A_PARTITION = SLOTS / PARTITIONS;
const PREFIX = 'tm';
/** The partition in which the revs of large conversations are kept. */
export const LARGE_PARTITION = 0;

/** FNV-1a over the units of the text, folded to a byte: the same on every node and in every version. */
export function partitionOf(user: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < user.length; i++) hash = Math.imul(hash ^ user.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & 0xff;
}

const TAGS = chooseTags();

/** The key that stands for the whole partition: its fence. */
export function partitionKey(partition: number): string {
  return `${PREFIX}:{${TAGS[partition]}}`;
}

export function userKey(partition: number, user: string): string {
  return `${PREFIX}:{${TAGS[partition]}}:u:${user}`;
}

export function largeKey(): string {
  return `${PREFIX}:{${TAGS[LARGE_PARTITION]}}:large`;
}

/** The channel on which one node is told of changes; nodes are spread over the partitions. */
export function nodeChannel(nodeId: number): string {
  return `${PREFIX}:{${TAGS[partitionOfNode(nodeId)]}}:node:${nodeId}`;
}

export function partitionOfNode(nodeId: number): number {
  return nodeId % PARTITIONS;
}

/** The channel on which all nodes are told. */
export const ALL_NODES_PARTITION = 1;
export function allNodesChannel(): string {
  return `${PREFIX}:{${TAGS[ALL_NODES_PARTITION]}}:nodes`;
}

export function slotOfPartition(partition: number): number {
  return slotOf(TAGS[partition] as string);
}

/** Redis Cluster specification: CRC16 (XMODEM) of the hash tag, modulo the number of slots. */
export function slotOf(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff;
  }
  return crc % SLOTS;
}

function chooseTags(): string[] {
  const tags: string[] = [];
  let chosen = 0;
  for (let n = 0; chosen < PARTITIONS; n++) {
    const tag = n.toString(36);
    const partition = Math.floor(slotOf(tag) / SLOTS_A_PARTITION);
    if (tags[partition] !== undefined) continue;
    tags[partition] = tag;
    chosen++;
  }
  return tags;
}

/** The keys of the streams. Those of one partition share a hash tag, so that a script may use them together on a Cluster. */
export interface StreamKeys {
  readonly stream: string;
  /** Which reader holds the stream. */
  readonly lease: string;
  /** How often an entry has been refused, by its id; entries that are not settled. */
  readonly refusals: string;
}

export function streamKeys(prefix: string, partition: number): StreamKeys {
  const stream = `${prefix}:{${partition}}`;
  return { stream, lease: `${stream}:lease`, refusals: `${stream}:refusals` };
}

/** The stream of entries that were refused for good. */
export function deadKey(prefix: string): string {
  return `${prefix}:dead`;
}

/** The nodes that read. */
export function nodesKey(prefix: string): string {
  return `${prefix}:nodes`;
}

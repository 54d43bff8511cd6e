// Numbers as text, for a badge that has room for two or three digits.

/** Of `Conversation`: the server counts no further where it says so. */
export interface CountedUnread {
  readonly unread: number;
  readonly capped: boolean;
}

const SMALL_MAX = 99;
/** A row reports no more than this in large conversations (CN8). */
const LARGE_MAX = 999;

/** '' for 0, else '1' … '99', '99+'; with `max: 999` '999+'. A sum goes in as it is. */
export function formatUnread(count: number | CountedUnread, { max = SMALL_MAX }: { max?: number } = {}): string {
  const { unread, capped } = typeof count === 'number' ? { unread: count, capped: false } : count;
  if (unread <= 0) return '';
  if (unread > max) return `${max}+`;
  return capped && unread >= LARGE_MAX ? `${LARGE_MAX}+` : String(unread);
}

let made = 0;

/** A name that no other test of this process uses. */
export function freshName(kind: string): string {
  made += 1;
  return `${kind}-${made}`;
}

/** A badge has room for two digits. */
const BADGE_MAX = 99;

const whole = new Intl.NumberFormat('en');

/** '' hides the badge. */
export function badgeText(count: number): string {
  if (count <= 0) return '';
  return count > BADGE_MAX ? `${BADGE_MAX}+` : String(count);
}

export function countText(count: number): string {
  return whole.format(count);
}

/** "1 message", "2 messages". */
export function plural(count: number, one: string): string {
  return `${countText(count)} ${one}${count === 1 ? '' : 's'}`;
}

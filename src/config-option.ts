/** The kinds of settings: what the text of an environment variable must look like, and what it then means. */
export interface Option<T> {
  readonly env: string;
  readonly default: T;
  /** What the default is called in the documentation, where its value alone would not tell. */
  readonly shown: string;
  readonly unit: string;
  readonly description: string;
  readonly isSecret: boolean;
  /** Throws an Error that says what the text should have been. */
  readonly parse: (given: string) => T;
}

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export function text(env: string, standard: string, description: string): Option<string> {
  const parse = (given: string): string => given.trim() || fail('more than blanks');
  return { env, default: standard, shown: standard, unit: 'text', description, isSecret: false, parse };
}

/** No default: what is not given is null. */
export function secret(env: string, description: string): Option<string | null> {
  const parse = (given: string): string => (given.trim() === given ? given : fail('without blanks at its ends'));
  return { env, default: null, shown: '', unit: 'text', description, isSecret: true, parse };
}

export function integer(
  env: string,
  standard: number,
  min: number,
  max: number,
  unit: string,
  description: string,
): Option<number> {
  const parse = (given: string): number => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    return value >= min && value <= max ? value : fail(`an integer from ${min} to ${max}`);
  };
  return { env, default: standard, shown: String(standard), unit, description, isSecret: false, parse };
}

export function durationMs(
  env: string,
  standard: number,
  min: number,
  max: number,
  description: string,
): Option<number> {
  const parse = (given: string): number => {
    const value = parseDurationMs(given);
    return value >= min && value <= max ? value : fail(`a time from ${min} to ${max} ms`);
  };
  return { env, default: standard, shown: String(standard), unit: 'ms', description, isSecret: false, parse };
}

/** Milliseconds, or a whole number with a unit. */
export function parseDurationMs(given: string): number {
  const unitsMs: Record<string, number> = { ms: 1, s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };
  const [, digits, unit = 'ms'] = /^(\d{1,12})(ms|s|m|h|d)?$/.exec(given) ?? [];
  if (digits === undefined) fail('a time in ms, or with a unit (250ms, 25s, 10m, 24h, 7d)');
  return Number(digits) * (unitsMs[unit] ?? 1);
}

export function oneOf<const T extends string>(
  env: string,
  standard: NoInfer<T>,
  values: readonly T[],
  description: string,
): Option<T> {
  const parse = (given: string): T => values.find((value) => value === given) ?? fail(`one of ${values.join(', ')}`);
  return { env, default: standard, shown: standard, unit: values.join(', '), description, isSecret: false, parse };
}

export function flag(env: string, standard: boolean, description: string): Option<boolean> {
  const parse = (given: string): boolean =>
    given === 'true' || given === 'false' ? given === 'true' : fail('true or false');
  return { env, default: standard, shown: String(standard), unit: 'true, false', description, isSecret: false, parse };
}

export function originList(env: string, description: string): Option<readonly string[]> {
  const parse = (given: string): readonly string[] =>
    given
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(originOf);
  return { env, default: [], shown: '', unit: 'origins', description, isSecret: false, parse };
}

/** An origin as browsers send it; a path, a wildcard or `null` would match more or less than whoever wrote it meant. */
function originOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  return url !== null && url.origin === given ? given : fail(`a list of origins like https://chat.example.com:8443`);
}

function fail(message: string): never {
  throw new Error(message);
}

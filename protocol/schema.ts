// Schemas as values: one declaration gives the TypeScript type, the check with the path of the faulty field, and a
// canonical shape that the fingerprint test pins. Unknown keys of objects are ignored, so that a newer peer may add
// fields; unknown values are refused. A check that finds no fault makes no garbage.

export type Fault = { field: string; message: string };
export type Checked<T> = { ok: true; value: T } | { ok: false; field: string; message: string };

export interface Schema<T> {
  /** The first fault of a value, or null. `field` is the path inside the value, '' for the value itself. */
  readonly fault: (value: unknown) => Fault | null;
  /** Plain JSON that changes whenever the schema accepts other values. */
  readonly shape: unknown;
  /** Exists in types only. */
  readonly inferred?: T;
}

export interface OptionalSchema<T> extends Schema<T> {
  readonly optional: true;
}

type Fields = Record<string, Schema<unknown>>;
type Flat<T> = { [K in keyof T]: T[K] };
type OptionalKeys<F> = { [K in keyof F]: F[K] extends OptionalSchema<unknown> ? K : never }[keyof F];
type ObjectOf<F> = Flat<
  { [K in Exclude<keyof F, OptionalKeys<F>>]: Infer<F[K]> } & { [K in OptionalKeys<F>]?: Infer<F[K]> | undefined }
>;

export type Infer<S> = S extends Schema<infer T> ? T : never;

export function check<T>(schema: Schema<T>, value: unknown): Checked<T> {
  const fault = schema.fault(value);
  return fault === null ? { ok: true, value: value as T } : { ok: false, ...fault };
}

/** JSON of a schema with sorted keys: equal text means that the same values are accepted. */
export function canonicalShape(schema: Schema<unknown>): string {
  return sortedJson(schema.shape);
}

export function literal<const T extends string | number | boolean>(expected: T): Schema<T> {
  const fault: Fault = { field: '', message: `must be ${JSON.stringify(expected)}` };
  return { shape: { literal: expected }, fault: (value) => (value === expected ? null : { ...fault }) };
}

export function oneOf<const T extends string>(...values: readonly T[]): Schema<T> {
  const known = new Set<unknown>(values);
  const message = `must be one of ${values.join(', ')}`;
  return { shape: { oneOf: values }, fault: (value) => (known.has(value) ? null : { field: '', message }) };
}

export const boolean: Schema<boolean> = {
  shape: 'boolean',
  fault: (value) => (typeof value === 'boolean' ? null : { field: '', message: 'must be true or false' }),
};

/** Safe integers only: a float, a number above 2^53-1 and a number in quotes are refused. */
export function integer(min: number, max: number): Schema<number> {
  const message = `must be an integer from ${min} to ${max === Number.MAX_SAFE_INTEGER ? '2^53-1' : max}`;
  return {
    shape: { integer: [min, max] },
    fault: (value) =>
      Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
        ? null
        : { field: '', message },
  };
}

/** Text of `min` to `max` bytes of UTF-8 without lone surrogates (they have no UTF-8 form, so two ids could meet in one). */
export function text(min: number, max: number, what = 'a string'): Schema<string> {
  const size = min === 0 ? `at most ${max} bytes of UTF-8` : `${min} to ${max} bytes of UTF-8`;
  return {
    shape: { text: [min, max] },
    fault: (value) => {
      if (typeof value === 'number' || typeof value === 'bigint') {
        return { field: '', message: `must be ${what}, not a number: integers lose digits above 2^53` };
      }
      if (typeof value !== 'string') return { field: '', message: `must be ${what}` };
      const bytes = utf8Length(value);
      if (bytes < 0) return { field: '', message: 'must be well-formed Unicode' };
      return bytes >= min && bytes <= max ? null : { field: '', message: `must be ${size}` };
    },
  };
}

export function pattern(expression: RegExp, what: string): Schema<string> {
  return {
    shape: { pattern: expression.source },
    fault: (value) =>
      typeof value === 'string' && expression.test(value) ? null : { field: '', message: `must be ${what}` },
  };
}

export function nullable<T>(inner: Schema<T>): Schema<T | null> {
  return { shape: { nullable: inner.shape }, fault: (value) => (value === null ? null : inner.fault(value)) };
}

/** The field of an object may be left out; `undefined` means left out, `null` does not. */
export function optional<T>(inner: Schema<T>): OptionalSchema<T> {
  return {
    optional: true,
    shape: { optional: inner.shape },
    fault: (value) => (value === undefined ? null : inner.fault(value)),
  };
}

export function array<T>(item: Schema<T>, max: number): Schema<T[]> {
  return {
    shape: { array: item.shape, max },
    fault: (value) => {
      if (!Array.isArray(value)) return { field: '', message: 'must be a list' };
      if (value.length > max) return { field: '', message: `must have at most ${max} items, has ${value.length}` };
      for (let i = 0; i < value.length; i++) {
        const fault = item.fault(value[i]);
        if (fault !== null) return within(`[${i}]`, fault);
      }
      return null;
    },
  };
}

export function object<F extends Fields>(fields: F): Schema<ObjectOf<F>> {
  const entries = Object.entries(fields);
  return {
    shape: { object: Object.fromEntries(entries.map(([name, field]) => [name, field.shape])) },
    fault: (value) => {
      if (!isObject(value)) return { field: '', message: 'must be an object' };
      for (const [name, field] of entries) {
        const fault = field.fault(value[name]);
        if (fault !== null)
          return within(name, value[name] === undefined ? { ...fault, message: 'is missing' } : fault);
      }
      return null;
    },
  };
}

/** Exactly one of the named optional fields has to be there. */
export function exactlyOneOf<T>(inner: Schema<T>, ...names: string[]): Schema<T> {
  return countOf(inner, names, 1, 1, `exactly one of ${names.join(', ')} is needed`);
}

/** At least one of the named optional fields has to be there. */
export function atLeastOneOf<T>(inner: Schema<T>, ...names: string[]): Schema<T> {
  return countOf(inner, names, 1, names.length, `at least one of ${names.join(', ')} is needed`);
}

/** Bytes of the UTF-8 form, -1 when a surrogate stands alone. */
export function utf8Length(value: string): number {
  let bytes = 0;
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 3;
    else {
      const low = unit < 0xdc00 ? value.charCodeAt(i + 1) : 0;
      if (!(low >= 0xdc00 && low <= 0xdfff)) return -1;
      bytes += 4;
      i++;
    }
  }
  return bytes;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function countOf<T>(inner: Schema<T>, names: string[], min: number, max: number, message: string): Schema<T> {
  return {
    shape: { inner: inner.shape, countOf: names, min, max },
    fault: (value) => {
      const fault = inner.fault(value);
      if (fault !== null) return fault;
      const present = names.filter((name) => (value as Record<string, unknown>)[name] !== undefined);
      if (present.length < min) return { field: names[0] ?? '', message: `is missing: ${message}` };
      return present.length > max ? { field: present[1] ?? '', message: `is one too many: ${message}` } : null;
    },
  };
}

function within(name: string, fault: Fault): Fault {
  const joined = fault.field === '' || fault.field.startsWith('[') ? name + fault.field : `${name}.${fault.field}`;
  return { field: joined, message: fault.message };
}

function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${sortedJson(value[key])}`).join(',')}}`;
}

import type { IncomingMessage } from 'node:http';
import { check, type Schema } from '../../protocol/index.ts';
import { UserFault } from '../errors.ts';
import type { Ticket } from './admission.ts';

export interface ListLimit {
  readonly field: string;
  readonly itemsMax: number;
}

/** Strict: ids are compared byte for byte, so bytes that are no UTF-8 must not quietly become a replacement character. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/**
 * The body as JSON that fits the schema. An empty one counts as `{}`. Throws UserFault: `too_large`, `unsupported_encoding`,
 * `malformed_json`, or `invalid_field` with the path of the field. A list that is longer than allowed is `too_large` too.
 */
export async function readBody<T>(
  incoming: IncomingMessage,
  ticket: Ticket,
  bytesMax: number,
  schema: Schema<T>,
  list?: ListLimit,
): Promise<T> {
  const encoding = incoming.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new UserFault('unsupported_encoding', `the body must not be encoded as ${encoding}`, 'content-encoding');
  const value = parse(await readBytes(incoming, ticket, bytesMax));
  if (list !== undefined) checkLength(value, list);
  const checked = check(schema, value);
  if (checked.ok) return checked.value;
  if (checked.field === '') throw new UserFault('invalid_field', `the body ${checked.message}`);
  throw new UserFault('invalid_field', `${checked.field} ${checked.message}`, checked.field);
}

function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    // The parser's own words may quote the body, which does not belong in answers or logs.
    const reason = error instanceof SyntaxError ? 'the body is not JSON' : 'the body is not UTF-8';
    throw new UserFault('malformed_json', reason);
  }
}

function checkLength(value: unknown, { field, itemsMax }: ListLimit): void {
  const list = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined;
  if (!Array.isArray(list) || list.length <= itemsMax) return;
  throw new UserFault('too_large', `${field} must have at most ${itemsMax} items, has ${list.length}`, field);
}

function readBytes(incoming: IncomingMessage, ticket: Ticket, bytesMax: number): Promise<Buffer> {
  const tooLarge = (): UserFault => new UserFault('too_large', `the body must have at most ${bytesMax} bytes`);
  if (Number(incoming.headers['content-length'] ?? 0) > bytesMax) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      try {
        if (size > bytesMax) throw tooLarge();
        ticket.hold(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        // What still comes is left to the server, which drops it without reading for long.
        incoming.off('data', take);
        chunks.length = 0;
        reject(error);
      }
    };
    const endedEarly = (): void => reject(new UserFault('malformed_json', 'the body ended early'));
    incoming.on('data', take);
    // A caller that hangs up is an error of the stream, and none of ours.
    incoming.once('error', endedEarly);
    incoming.once('close', endedEarly);
    incoming.once('end', () => {
      incoming.off('close', endedEarly);
      resolve(Buffer.concat(chunks));
    });
  });
}

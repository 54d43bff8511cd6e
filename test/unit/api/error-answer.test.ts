import { expect, test } from 'vitest';
import { errorCodes } from '../../../protocol/index.ts';
import { errorAnswer } from '../../../src/api/error-answer.ts';
import { Bug, Unavailable, UserFault } from '../../../src/errors.ts';

test.each<[fault: UserFault, status: number, headers?: Record<string, string>]>([
  [new UserFault('invalid_field', 'seq is missing', 'seq'), 400],
  [new UserFault('malformed_json', 'the body is not JSON'), 400],
  [
    new UserFault('unsupported_encoding', 'it is compressed', 'content-encoding'),
    415,
    { 'accept-encoding': 'identity' },
  ],
  [new UserFault('unauthorized', 'an API key is needed'), 401, { 'www-authenticate': 'Bearer' }],
  [new UserFault('unknown_conversation', 'not a member', 'conv'), 404],
  [new UserFault('not_found', 'no such path'), 404],
  [new UserFault('method_not_allowed', 'this path takes GET'), 405],
  [new UserFault('stale_cursor', 'another epoch', 'epoch'), 409],
  [new UserFault('too_large', 'too many', 'events'), 413],
  // A code that answers one event, should it ever answer a whole request.
  [new UserFault('seq_taken', 'another message has this seq', 'seq'), 400],
])('%s is answered with %i', (fault, status, headers = {}) => {
  const { code, message, field } = fault;
  const error = field === undefined ? { code, message } : { code, message, field };
  expect(errorAnswer(fault)).toEqual({ status, body: { error }, headers });
});

test.each([
  [new Unavailable('truth is away', 1500), 503, '2'],
  [new Unavailable('truth is away', 0), 503, '1'],
  [new Unavailable('too many requests', 250, 'rate_limited'), 429, '1'],
])('%s is answered with %i and Retry-After %s', (error, status, retryAfter) => {
  const { code, message, retryMs } = error;
  const body = { error: { code, message, retry_ms: retryMs } };
  expect(errorAnswer(error)).toEqual({ status, body, headers: { 'retry-after': retryAfter } });
});

test('what is nobody’s fault but ours tells nothing of itself', () => {
  for (const error of [new Bug('row 7 of alice'), new TypeError('row 7 of alice'), 'row 7 of alice', undefined]) {
    const answer = errorAnswer(error);
    expect(answer).toMatchObject({ status: 500, body: { error: { code: 'internal' } } });
    expect(JSON.stringify(answer)).not.toContain('alice');
  }
});

test('every code that answers a whole request has a status', () => {
  const statuses = Object.values(errorCodes).flatMap((info) => ('http' in info ? [info.http] : []));
  expect(statuses.every((status) => status >= 400 && status <= 599)).toBe(true);
});

// What a caller of any kind gets while a store is slow: an answer, or when to ask again.
import { openRaw, type Frame, type RawSocket } from './raw-socket.ts';
import { signedToken } from './product.ts';

/** `isRefused`: told to come back, by a code and a time. `fault`: what is wrong with the answer; null: nothing. */
export interface Outcome {
  readonly isRefused: boolean;
  readonly fault: string | null;
}

export interface Call {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

export interface HttpCall {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly headers: Record<string, string>;
  /** Whether what was answered with 200 is right. */
  readonly isRight: (body: Record<string, unknown>) => boolean;
}

export async function overHttp(url: string, { method, path, body, headers, isRight }: HttpCall): Promise<Outcome> {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status === 200) {
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return answered(isRight(isJson ? (JSON.parse(text) as Record<string, unknown>) : { text }), text);
  }
  const { error } = JSON.parse(text) as { error: Record<string, unknown> };
  const isTold = response.status === 503 && Number(response.headers.get('retry-after')) > 0;
  return refused(isTold && error['code'] === 'unavailable' && Number(error['retry_ms']) > 0, text);
}

/** An open socket of a device of the user; null: it was sent away with the advice to come back. */
export async function greeted(url: string, user: string, device: string): Promise<RawSocket | Outcome> {
  const socket = await openRaw(Number(new URL(url).port));
  if ('status' in socket) return refused(false, `the handshake was refused with ${socket.status}`);
  socket.send({ t: 'hello', token: signedToken(user), device, cursor: null });
  const first = await Promise.race([socket.next('welcome'), socket.ended]);
  if ('t' in first) return socket;
  const { bye } = first;
  return refused(bye?.['code'] === 4102 && Number(bye['retry_ms']) > 0, JSON.stringify(bye));
}

/** The answer to one frame: the frame of type `expected` that is right, or an `error` (with the id of the frame, where it has one). */
export async function overSocket(
  socket: RawSocket,
  frame: Frame & { readonly id?: number },
  expected: string,
  isRight: (answer: Frame) => boolean,
): Promise<Outcome> {
  const isMine = ({ t, id }: Frame): boolean => (t === expected || t === 'error') && id === frame.id;
  const before = socket.log.length;
  socket.send(frame);
  const answer = await new Promise<Frame>((resolve, reject) => {
    const look = (): void => {
      const found = socket.log.slice(before).find(isMine);
      if (found !== undefined) resolve(found);
      else socket.socket.once('data', () => setImmediate(look));
    };
    look();
    void socket.ended.then(({ code, bye }) => reject(new Error(`closed by ${code}: ${JSON.stringify(bye)}`)));
  });
  if (answer.t !== 'error') return answered(isRight(answer), JSON.stringify(answer));
  return refused(answer['code'] === 'unavailable' && Number(answer['retry_ms']) > 0, JSON.stringify(answer));
}

function answered(isRight: boolean, text: string): Outcome {
  return { isRefused: false, fault: isRight ? null : `a wrong answer: ${text}` };
}

function refused(isTold: boolean, text: string): Outcome {
  return { isRefused: true, fault: isTold ? null : `refused without advice: ${text}` };
}

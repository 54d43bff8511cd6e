import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Schema } from '../../protocol/index.ts';
import type { Deadline } from '../deadline.ts';
import type { Ticket } from './admission.ts';
import type { ListLimit } from './request-body.ts';

/** Who may call: the holder of an API key, a user with a token, anybody. */
type Access = 'key' | 'token' | 'open';

interface Caller {
  readonly user: string;
  readonly expiresAtMs: number;
}

export interface ApiVariables {
  /** Until when the caller waits, from the end of the request on. */
  deadline: Deadline;
  /** Absent on routes that are always admitted. */
  ticket?: Ticket;
  /** The owner of the token on routes with a token. */
  caller?: Caller;
  /** The route that answered, for metrics. */
  route?: string;
}

export type ApiContext = Context<{ Bindings: HttpBindings; Variables: ApiVariables }>;

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly access: Access;
  /** Answered however much there is to do: what an operator looks at just then. Takes no body. */
  readonly isAlwaysAdmitted?: true;
  readonly answer: (c: ApiContext) => Promise<Response> | Response;
}

/** Reads and checks the body of a request; see request-body.ts. */
export type ReadBody = <T>(c: ApiContext, schema: Schema<T>, list?: ListLimit) => Promise<T>;

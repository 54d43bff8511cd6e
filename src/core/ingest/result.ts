import type { ErrorCode, EventResult } from '../../../protocol/index.ts';

export type { EventResult };

/** Accepted; for events without an answer of their own. */
export const ACCEPTED: EventResult = { ok: true };

/** A refused event has changed nothing and has not used up its event_id (DT3). */
export function refuse(code: ErrorCode, message: string, field?: string): EventResult {
  return { ok: false, error: field === undefined ? { code, message } : { code, message, field } };
}

export function unknownConversation(conv: string): EventResult {
  return refuse('unknown_conversation', `conv '${conv}' is not known; conversation.created makes it`, 'conv');
}

export function dissolved(conv: string): EventResult {
  return refuse('conversation_dissolved', `conv '${conv}' has been dissolved`, 'conv');
}

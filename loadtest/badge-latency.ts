/**
 * From the time a message was due to the frame that put it on a badge, for each device of each member but its sender. A frame that
 * brings ten messages at once is ten badge updates.
 */
import type { Row, ServerFrame } from '../protocol/index.ts';
import type { Histogram } from './histogram.ts';

interface Posts {
  readonly times: Histogram;
  /** Messages up to here were there before anything was measured. */
  readonly headAtStart: number;
  /** By seq; known as soon as the answer to the post has been read. */
  readonly posted: Map<number, { readonly dueMs: number; readonly sender: string }>;
  /** Seqs that were shown before that answer was read: to whom, and when. */
  readonly early: Map<number, { readonly user: string; readonly atMs: number }[]>;
}

/** What a device held of a conversation before a frame. */
interface Before {
  readonly headSeq: number;
  readonly isCapped: boolean;
}

export class BadgeLatency {
  readonly #posts = new Map<string, Posts>();
  /** A badge update: one message on one device. */
  updates = 0;
  /** Deltas that carried them, and all else that moved a device. */
  frames = 0;

  /** From now on the messages of the conversation count; their times go into this histogram. */
  begin(conv: string, headSeq: number, times: Histogram): void {
    this.#posts.set(conv, { times, headAtStart: headSeq, posted: new Map(), early: new Map() });
  }

  posted(conv: string, seq: number, dueMs: number, sender: string): void {
    const posts = this.#posts.get(conv);
    if (posts === undefined) return;
    posts.posted.set(seq, { dueMs, sender });
    for (const { user, atMs } of posts.early.get(seq) ?? []) this.#count(posts, seq, user, atMs);
    posts.early.delete(seq);
  }

  /** Follows one device of the user: to be told every frame of it. */
  watch(user: string): (frame: ServerFrame) => void {
    const held = new Map<string, Before>();
    return (frame) => {
      if (frame.t === 'snapshot') for (const row of frame.rows) held.set(row.conv, beforeNext(row));
      if (frame.t !== 'delta') return;
      const atMs = performance.now();
      let isMeasured = false;
      for (const row of frame.rows) {
        const posts = this.#posts.get(row.conv);
        if (posts === undefined) continue;
        isMeasured = true;
        this.#shown(posts, user, row, held.get(row.conv), atMs);
        held.set(row.conv, beforeNext(row));
      }
      if (isMeasured) this.frames++;
    };
  }

  /** [CN8] While a row is capped messages are not shown, and its head is not kept up to date; they are not owed a badge. */
  #shown(posts: Posts, user: string, row: Row, before: Before | undefined, atMs: number): void {
    if (row.gone === true || before?.isCapped === true) return;
    for (let seq = Math.max(before?.headSeq ?? 0, posts.headAtStart) + 1; seq <= row.head_seq; seq++) {
      if (posts.posted.has(seq)) {
        this.#count(posts, seq, user, atMs);
        continue;
      }
      const waiting = posts.early.get(seq);
      if (waiting === undefined) posts.early.set(seq, [{ user, atMs }]);
      else waiting.push({ user, atMs });
    }
  }

  #count(posts: Posts, seq: number, user: string, atMs: number): void {
    const post = posts.posted.get(seq);
    if (post === undefined || post.sender === user) return;
    this.updates++;
    posts.times.record(atMs - post.dueMs);
  }
}

function beforeNext(row: Row): Before {
  return { headSeq: row.gone === true ? 0 : row.head_seq, isCapped: row.capped === true };
}

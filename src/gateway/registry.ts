import { type InspectedDevice, limits } from '../../protocol/index.ts';
import type { Change, Clock, LargeNotice, OpenedConnection, WakeupListener } from '../ports.ts';
import { Announcements, type AnnouncementsDeps } from './announcements.ts';
import { lookAt } from './device-look.ts';
import { LargeConversations } from './large-conversations.ts';
import type { LargeDeps } from './large-conversations.ts';
import { PushedChange } from './pushed-change.ts';
import type { Session } from './session.ts';

export interface RegistryDeps extends LargeDeps, AnnouncementsDeps {
  readonly clock: Clock;
  readonly sessionsPerUserMax: number;
  /** The state of these connected users, or of any, may be ahead of what the sessions were told. */
  readonly onMissed: (users?: readonly string[]) => void;
}

const NOBODY: readonly Session[] = [];
/** Of one user; whoever looks at them wants no more. */
const LOOKED_AT_MAX = 100;

/**
 * Which sessions of which users are on this node. A session enters before its state is read (SY5), so that no change can fall between
 * the read and the pushes.
 */
export class Registry implements WakeupListener {
  readonly #large: LargeConversations;
  /** The lists are values: whoever walks one is not disturbed by sessions that come and go meanwhile. Oldest first. */
  readonly #users = new Map<string, readonly Session[]>();
  readonly #sessionsPerUserMax: number;
  readonly #announcements: Announcements;
  readonly #clock: Pick<Clock, 'steadyMs'>;
  readonly #onMissed: RegistryDeps['onMissed'];

  constructor(deps: RegistryDeps) {
    this.#announcements = new Announcements(deps, (session) => this.sessionsOf(session.user).includes(session));
    this.#clock = deps.clock;
    this.#sessionsPerUserMax = deps.sessionsPerUserMax;
    this.#onMissed = deps.onMissed;
    this.#large = new LargeConversations(deps, (user) => this.#users.has(user));
  }

  /**
   * One session a device, on all nodes: the newer one replaces the older one, and `attempt` says which is newer where both have it. Above the limit of
   * the user the oldest session makes room. Answers whether the session is in.
   */
  enter(session: Session): boolean {
    const held = this.sessionsOf(session.user);
    const sameDevice = held.find(({ device }) => device === session.device);
    if (sameDevice !== undefined && isOlder(session.attempt, sameDevice.attempt)) return false;
    if (sameDevice !== undefined) sameDevice.close(4404);
    else if (held.length >= this.#sessionsPerUserMax) held[0]?.close(4103, limits.retryMsMax);
    this.#users.set(session.user, [...this.sessionsOf(session.user), session]);
    this.#announcements.add(session);
    return true;
  }

  /** Harmless for a session that is not in, or that another one has replaced. */
  leave(session: Session): void {
    const held = this.sessionsOf(session.user);
    if (!held.includes(session)) return;
    if (held.length > 1) {
      this.#users.set(
        session.user,
        held.filter((one) => one !== session),
      );
      return;
    }
    this.#users.delete(session.user);
    this.#large.forget(session.user);
  }

  /** To be taken before a user's state is read, and given to `concerns` after it. */
  get largeMark(): number {
    return this.#large.mark;
  }

  /** The large conversations of a user, as a view names them: from now on their notices concern the user. */
  concerns(user: string, large: readonly string[], mark: number): void {
    this.#large.register(user, large, mark);
  }

  users(): IterableIterator<string> {
    return this.#users.keys();
  }

  holds(user: string): boolean {
    return this.#users.has(user);
  }

  sessionsOf(user: string): readonly Session[] {
    return this.#users.get(user) ?? NOBODY;
  }

  devicesOf(user: string): InspectedDevice[] {
    const nowMs = this.#clock.steadyMs();
    return this.sessionsOf(user)
      .slice(-LOOKED_AT_MAX)
      .map((session) => lookAt(session, nowMs));
  }

  changes(changes: readonly Change[]): void {
    for (const change of changes) {
      const sessions = this.#users.get(change.user);
      if (sessions === undefined) continue;
      const pushed = new PushedChange(change);
      for (const session of sessions) session.push(pushed);
    }
  }

  large(notices: readonly LargeNotice[]): void {
    this.#large.notices(notices);
  }

  /**
   * What other nodes opened replaces what is here. One that was heard of before ours is older, one with a lower attempt too: that one is
   * told of ours again, since its own node may not have known of ours when it heard of it.
   */
  opened(connections: readonly OpenedConnection[]): void {
    for (const { user, device, conn, attempt } of connections) {
      const session = this.sessionsOf(user).find((one) => one.device === device);
      if (session === undefined) continue;
      if (session.conn === conn) session.isAnnounced = true;
      else if (!session.isAnnounced) continue;
      else if (isOlder(attempt ?? undefined, session.attempt)) this.#announcements.add(session);
      else session.close(4404);
    }
  }

  missed(users?: readonly string[]): void {
    this.#onMissed(users?.filter((user) => this.#users.has(user)));
  }

  disconnect(user: string, device: string | null): void {
    for (const session of this.sessionsOf(user)) {
      if (device === null || session.device === device) session.close(4402);
    }
  }
}

function isOlder(attempt: number | undefined, than: number | undefined): boolean {
  return attempt !== undefined && than !== undefined && attempt < than;
}

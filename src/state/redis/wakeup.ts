import type { InspectedDevice } from '../../../protocol/index.ts';
import type { Change, Clock, LargeNotice, OpenedConnection, RollCall, Wakeup, WakeupListener } from '../../ports.ts';
import type { PartitionCalls } from './partition-calls.ts';
import { ALL_NODES_PARTITION, allNodesChannel, nodeChannel, partitionOfNode } from './partitions.ts';
import { RollCalls } from './roll-calls.ts';
import { Subscription } from './subscription.ts';
import { changesFrom, packWakeup, unpackWakeup, type WakeupMessage } from './wakeup-text.ts';

export interface RedisWakeupOptions {
  readonly calls: PartitionCalls;
  readonly clock: Clock;
  readonly nodeId: number;
  readonly onError: (error: unknown) => void;
}

/** Of one message, so that no reader is held up by one of many megabytes. */
const CHANGES_MAX = 1000;
const TRIES_MAX = 8;
const SAY_AGAIN_MS = 250;
const UNSAID_MAX = 1000;
/** For so long after a message to all has reached no other node, none is taken to listen; or until one is heard of. */
const ALONE_MS = 1000;
/** What others did not say for that reason is looked for when no one can do so any more; timers may be a little early. */
const LOOK_AFTER_MS = ALONE_MS + 50;

/**
 * Wake-up over sharded publish/subscribe. Each node listens to a channel of its own and to one of all. Which nodes hold sockets of a
 * user stands in the user's state and comes with each change (`Change.nodes`), so it costs no look-up: one message a node and batch.
 * This node's own listeners are told without a detour. What cannot be published is said again for a while. What is
 * lost all the same is made up for by the background comparison, at once where a channel was not listened to for a moment.
 */
export class RedisWakeup implements Wakeup {
  readonly #options: RedisWakeupOptions;
  readonly #listeners = new Set<WakeupListener>();
  readonly #subscriptions: readonly Subscription[];
  readonly #rollCalls: RollCalls;
  readonly #ownChanges: string;
  /** Messages that wait to be published again. */
  #unsaid = 0;
  #aloneUntilMs = 0;
  #isClosed = false;

  constructor(options: RedisWakeupOptions) {
    this.#options = options;
    const { calls, clock, nodeId, onError } = options;
    this.#ownChanges = changesFrom(nodeId);
    this.#rollCalls = new RollCalls(clock, (user, call) =>
      calls.send(
        ALL_NODES_PARTITION,
        'SPUBLISH',
        allNodesChannel(),
        packWakeup({ kind: 'rollCall', from: nodeId, user, call }),
      ),
    );
    const heard = (text: string): void => this.#heard(text);
    const lookForMissed = (): void => {
      for (const listener of this.#listeners) listener.missed?.();
    };
    const begun = (isAgain: boolean): void => {
      if (isAgain) lookForMissed();
      clock.after(LOOK_AFTER_MS, lookForMissed);
    };
    this.#subscriptions = [
      { partition: partitionOfNode(nodeId), channel: nodeChannel(nodeId) },
      { partition: ALL_NODES_PARTITION, channel: allNodesChannel() },
    ].map((place) => new Subscription({ ...place, calls, clock, heard, begun, onError }));
  }

  /** Whether a listener of this node holds sockets of the user. */
  holds(user: string): boolean {
    for (const listener of this.#listeners) if (listener.holds?.(user) === true) return true;
    return false;
  }

  /** Resolves when both channels are being listened to. */
  async heard(): Promise<void> {
    await Promise.all(this.#subscriptions.map((one) => one.heard()));
  }

  async publishChanges(changes: readonly Change[]): Promise<void> {
    const own: Change[] = [];
    const forAll: Change[] = [];
    const byNode = new Map<number, Change[]>();
    for (const change of changes) {
      if (change.nodes === undefined) {
        own.push(change);
        forAll.push(change);
        continue;
      }
      for (const node of change.nodes) {
        if (node === this.#options.nodeId) own.push(change);
        else if (byNode.has(node)) byNode.get(node)?.push(change);
        else byNode.set(node, [change]);
      }
    }
    if (own.length > 0) for (const listener of this.#listeners) listener.changes(own);
    for (const [node, list] of byNode) this.#publishChanges(partitionOfNode(node), nodeChannel(node), list);
    if (this.#options.clock.steadyMs() >= this.#aloneUntilMs) {
      this.#publishChanges(ALL_NODES_PARTITION, allNodesChannel(), forAll);
    }
  }

  async publishLarge(notices: readonly LargeNotice[]): Promise<void> {
    if (notices.length === 0) return;
    for (const listener of this.#listeners) listener.large(notices);
    const text = packWakeup({ kind: 'large', from: this.#options.nodeId, notices });
    this.#publishLasting(ALL_NODES_PARTITION, allNodesChannel(), text);
  }

  async publishMissing(users: readonly string[]): Promise<void> {
    for (const listener of this.#listeners) listener.missed?.(users);
    const text = packWakeup({ kind: 'missing', from: this.#options.nodeId, users });
    this.#publishLasting(ALL_NODES_PARTITION, allNodesChannel(), text);
  }

  async publishDisconnect(user: string, device: string | null): Promise<void> {
    for (const listener of this.#listeners) listener.disconnect(user, device);
    // No comparison makes up for it, so whoever revokes is told where the other nodes could not be.
    const text = packWakeup({ kind: 'disconnect', from: this.#options.nodeId, user, device });
    await this.#options.calls.send(ALL_NODES_PARTITION, 'SPUBLISH', allNodesChannel(), text);
  }

  /** This node hears of it with the others, in the order of the channel. */
  async publishOpened(connections: readonly OpenedConnection[]): Promise<void> {
    if (connections.length === 0) return;
    const text = packWakeup({ kind: 'opened', from: this.#options.nodeId, connections });
    await this.#options.calls.send(ALL_NODES_PARTITION, 'SPUBLISH', allNodesChannel(), text);
  }

  rollCall(user: string): Promise<RollCall> {
    return this.#rollCalls.call(user, this.#devicesOf(user));
  }

  subscribe(listener: WakeupListener): void {
    this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    for (const one of this.#subscriptions) one.close();
  }

  #publishChanges(partition: number, channel: string, changes: readonly Change[]): void {
    for (let i = 0; i < changes.length; i += CHANGES_MAX) {
      const part = changes.slice(i, i + CHANGES_MAX);
      const text = packWakeup({ kind: 'changes', from: this.#options.nodeId, changes: part });
      this.#publishLasting(partition, channel, text);
    }
  }

  /** Of what is true later too: revs and versions tell what is old. A connection that was cut is back within that time. */
  #publishLasting(partition: number, channel: string, text: string, triesLeft = TRIES_MAX): void {
    const { calls, clock, onError } = this.#options;
    const saidAtMs = clock.steadyMs();
    calls.send(partition, 'SPUBLISH', channel, text).then(
      (listeners) => {
        if (channel === allNodesChannel()) this.#noteListeners(Number(listeners), saidAtMs);
      },
      (error: unknown) => {
        onError(error);
        if (triesLeft <= 1 || this.#unsaid >= UNSAID_MAX) return;
        this.#unsaid++;
        clock.after(SAY_AGAIN_MS, () => {
          this.#unsaid--;
          if (!this.#isClosed) this.#publishLasting(partition, channel, text, triesLeft - 1);
        });
      },
    );
  }

  /** `listeners`: of the channel of all, this node among them. Who begins to listen from now on looks for what is not said to it. */
  #noteListeners(listeners: number, saidAtMs: number): void {
    const isAlone = listeners === 1 && this.#subscriptions.every(({ isHeard }) => isHeard);
    this.#aloneUntilMs = isAlone ? saidAtMs + ALONE_MS : 0;
  }

  /** Not waited for: whoever publishes has done its part. */
  #publish(partition: number, channel: string, text: string): void {
    this.#options.calls.send(partition, 'SPUBLISH', channel, text).catch(this.#options.onError);
  }

  #heard(text: string): void {
    // Most of what a node hears of itself; its listeners have been told.
    if (text.startsWith(this.#ownChanges)) return;
    const message = unpackWakeup(text);
    if (message === null) return;
    if (message.from !== this.#options.nodeId) this.#aloneUntilMs = 0;
    if (message.kind === 'opened') {
      for (const listener of this.#listeners) listener.opened?.(message.connections);
      return;
    }
    if (message.from === this.#options.nodeId) return;
    if (message.kind === 'rollCall') this.#answer(message);
    else if (message.kind === 'present') this.#rollCalls.answered(message.call, message.devices);
    else this.#tell(message);
  }

  #tell(message: Exclude<WakeupMessage, { kind: 'opened' | 'rollCall' | 'present' }>): void {
    for (const listener of this.#listeners) {
      if (message.kind === 'changes') listener.changes(message.changes);
      else if (message.kind === 'large') listener.large(message.notices);
      else if (message.kind === 'missing') listener.missed?.(message.users);
      else listener.disconnect(message.user, message.device);
    }
  }

  #answer({ from, user, call }: Extract<WakeupMessage, { kind: 'rollCall' }>): void {
    const devices = this.#devicesOf(user);
    const text = packWakeup({ kind: 'present', from: this.#options.nodeId, call, devices });
    this.#publish(partitionOfNode(from), nodeChannel(from), text);
  }

  #devicesOf(user: string): InspectedDevice[] {
    return [...this.#listeners].flatMap((listener) => listener.devicesOf?.(user) ?? []);
  }
}

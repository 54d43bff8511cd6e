/** Who is there and who talks to whom. */
import type { SeededRandom } from './random.ts';

export interface Person {
  readonly user: string;
  readonly devices: number;
}

export interface Conversation {
  readonly conv: string;
  /** Its number, for whoever spreads conversations. */
  readonly key: number;
  /** What its times are listed under. */
  readonly kind: string;
  readonly members: readonly Person[];
}

export interface Cast {
  readonly people: readonly Person[];
  readonly conversations: readonly Conversation[];
  ofKind(kind: string): readonly Conversation[];
}

/** Collects a cast. All ids begin with `prefix`, so that one run does not meet what another has left on the same server. */
export class Casting implements Cast {
  readonly people: Person[] = [];
  readonly conversations: Conversation[] = [];
  readonly #kinds = new Map<string, Conversation[]>();
  readonly #prefix: string;
  readonly random: SeededRandom;

  constructor(prefix: string, random: SeededRandom) {
    this.#prefix = prefix;
    this.random = random;
  }

  person(devices: number): Person {
    const person = { user: `${this.#prefix}u${this.people.length}`, devices };
    this.people.push(person);
    return person;
  }

  conversation(kind: string, members: readonly Person[]): Conversation {
    const key = this.conversations.length;
    const conversation = { conv: `${this.#prefix}c${key}`, key, kind, members };
    this.conversations.push(conversation);
    const alike = this.#kinds.get(kind);
    if (alike === undefined) this.#kinds.set(kind, [conversation]);
    else alike.push(conversation);
    return conversation;
  }

  ofKind(kind: string): readonly Conversation[] {
    return this.#kinds.get(kind) ?? [];
  }

  /** So many groups of so many people each, everybody in about as many as everybody else. */
  groups(kind: string, count: number, size: number): Conversation[] {
    const { people } = this;
    if (people.length < size) return [];
    let left: Person[] = [];
    return Array.from({ length: count }, () => {
      const members = new Set<Person>();
      while (members.size < size) {
        if (left.length === 0) left = this.#shuffled();
        members.add(left.pop() as Person);
      }
      return this.conversation(kind, [...members]);
    });
  }

  #shuffled(): Person[] {
    const people = [...this.people];
    for (let i = people.length - 1; i > 0; i--) {
      const j = this.random.below(i + 1);
      [people[i], people[j]] = [people[j] as Person, people[i] as Person];
    }
    return people;
  }
}

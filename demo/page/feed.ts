// What has been said, as far as this page knows: Tidemark counts messages and never sees their text.
import type { Person } from '../cast.ts';

export interface Said {
  readonly conv: string;
  readonly seq: number;
  readonly sender: Person;
  readonly text: string;
  readonly isNotice: boolean;
}

export interface Feed {
  add(said: Said): void;
  recall(said: Said): void;
  isRecalled(said: Said): boolean;
  newest(conv: string): Said | undefined;
  newestToRecall(conv: string): Said | undefined;
  onChange(listener: () => void): void;
}

const HELD_MAX = 200;

export function createFeed(): Feed {
  const byConv = new Map<string, Said[]>();
  const recalled = new Set<string>();
  const listeners = new Set<() => void>();
  const changed = () => listeners.forEach((listener) => listener());
  const idOf = ({ conv, seq }: Said) => `${seq} ${conv}`;
  const of = (conv: string) => byConv.get(conv) ?? [];
  return {
    add(said) {
      const others = of(said.conv).filter(({ seq }) => seq !== said.seq);
      const all = [...others, said].toSorted((a, b) => a.seq - b.seq);
      byConv.set(said.conv, all.slice(-HELD_MAX));
      changed();
    },
    recall(said) {
      recalled.add(idOf(said));
      changed();
    },
    isRecalled: (said) => recalled.has(idOf(said)),
    newest: (conv) => of(conv).at(-1),
    newestToRecall: (conv) => of(conv).findLast((said) => !recalled.has(idOf(said))),
    onChange: (listener) => void listeners.add(listener),
  };
}

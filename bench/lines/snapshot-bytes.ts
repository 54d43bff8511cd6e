import { limits, msgpackCodec } from '../../protocol/index.ts';
import { beginSnapshot, nextPage, type SnapshotCourse } from '../../src/core/snapshot-pages.ts';
import { openEmbedded } from '../embedded.ts';
import type { Line } from '../line.ts';
import { buildState, usualRow } from '../state-rows.ts';

const CONVS = 1000;
const USER = 'user';
const KB = 1024;

/** SY6: whoever starts over gets everything, on a mobile network too; truth is not asked for what the state has. */
export const snapshotBytes: Line = {
  name: 'snapshot of 1,000 conversations, bytes',
  what: 'all pages of a snapshot in MessagePack, for ids of eleven letters; the state is warm, so a single SQL statement would end the run',
  budget: { kind: 'at most', bound: 40, unit: 'KB', isCounted: true },
  async run() {
    const embedded = openEmbedded();
    const rows = Array.from({ length: CONVS }, (_, i) => usualRow(`conv-${String(i).padStart(6, '0')}`, i));
    await buildState(embedded.state, USER, rows);
    embedded.counted.reset();
    const view = await embedded.services.sync.view(USER);
    const { statements } = embedded.counted;
    if (statements > 0) throw new Error(`a warm snapshot took ${statements} SQL statements`);
    await embedded.close();
    const pages: number[] = [];
    let rest: SnapshotCourse | null = beginSnapshot(view);
    while (rest !== null) {
      const page = nextPage(rest, limits.pageRowsMax);
      pages.push(msgpackCodec.encode(page.frame).length);
      ({ rest } = page);
    }
    const bytes = pages.reduce((sum, length) => sum + length, 0);
    return { value: bytes / KB, detail: `${pages.length} pages · ${(bytes / CONVS).toFixed(1)} bytes a conversation` };
  },
};

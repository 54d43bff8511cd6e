import type { PlantedFault } from './planted-fault.ts';
import { PLANTED_SERVICE_GUARDS } from './planted-service-guards.ts';
import { PLANTED_STATE_GUARDS } from './planted-state-guards.ts';
import { PLANTED_STREAM_GUARDS } from './planted-stream-guards.ts';
import { PLANTED_TRUTH_GUARDS } from './planted-truth-guards.ts';

/** Faults that real unread systems had. */
const COMMON_FAULTS: readonly PlantedFault[] = [
  {
    name: 'the last ack wins, so a late one takes the read position back',
    rule: 'AK1',
    file: 'src/core/commands/acks.ts',
    find: 'if (target <= membership.readSeq) return',
    replace: 'if (target === membership.readSeq) return',
  },
  {
    name: 'an ack that was under way undoes "mark unread"',
    rule: 'AK7',
    file: 'src/core/commands/acks.ts',
    find: 'if (readEpoch !== undefined && readEpoch !== membership.readEpoch) {',
    replace: 'if (readEpoch !== undefined && readEpoch > membership.readEpoch) {',
  },
  {
    name: '"read all" takes a message that came after the button was drawn',
    rule: 'AK8',
    file: 'src/core/commands/read-all.ts',
    find: 'row.version <= sinceVersion',
    replace: 'row.version <= sinceVersion + 1',
  },
  {
    name: "the user's own messages count as unread",
    rule: 'CN4',
    file: 'src/core/counting.ts',
    find: 'byAnyone - own + facts.adjustByOthers',
    replace: 'byAnyone + facts.adjustByOthers',
  },
  {
    name: 'a system notice makes an unread',
    rule: 'CN5',
    file: 'src/core/ingest/message-created.ts',
    find: 'const counts = countable && !recalled;',
    replace: 'const counts = !recalled;',
  },
  {
    name: 'the recall of a message that had come late takes it off twice',
    rule: 'CN6',
    file: 'src/core/ingest/message-changed.ts',
    find: 'message.tookOrd ? -1 : 0',
    replace: '-1',
  },
  {
    name: 'an edit makes a message count that did not',
    rule: 'CN7',
    file: 'src/core/ingest/message-changed.ts',
    find: `  if (!counts(message)) return;
`,
    replace: `  if (!message.countable && event.countable === true) {
    draft.messages.change(message, { countable: true });
    draft.messages.adjust(message, message.tookOrd ? 0 : 1, 0);
    draft.noteAll('edit');
  }
  if (!counts(message)) return;
`,
  },
  {
    name: 'a message inserted below the head is not counted',
    rule: 'OR3',
    file: 'src/core/ingest/message-created.ts',
    find: 'messages.adjust(message, 1, conversation.lateCount);',
    replace: '',
  },
  {
    name: 'a late ack brings a deleted conversation back',
    rule: 'DT2',
    file: 'src/core/commands/acks.ts',
    find: 'membership.readSeq = target;',
    replace: `membership.readSeq = target;
  membership.awayOrd = -1;`,
  },
  {
    name: 'a large group shows its exact number and a frame for every message',
    rule: 'CN8',
    file: 'src/core/row.ts',
    find: 'row.large ? Math.min(row.unread, UNREAD_CAP) : row.unread',
    replace: 'row.unread',
  },
  {
    name: 'a stalled node puts an older row over a newer one',
    rule: 'CN9',
    file: 'src/core/user-state.ts',
    find: 'const newer = conv > 0 || member > 0;',
    replace: 'const newer = conv !== 0 || member !== 0;',
  },
  {
    name: 'a device that was away is not told of the conversations it has left',
    rule: 'LC2',
    file: 'src/core/user-state.ts',
    find: 'if (row.version > sinceVersion) rows.push(row);',
    replace: "if (row.version > sinceVersion && listingOf(row) !== 'gone') rows.push(row);",
  },
  {
    name: 'a deleted conversation does not come back with its next message',
    rule: 'LC3',
    file: 'src/core/row.ts',
    find: 'away: m.awayOrd === c.headOrd && !facts.lateSinceAway,',
    replace: 'away: m.awayOrd >= 0,',
  },
  {
    name: 'muting a conversation lowers the total',
    rule: 'LC5',
    file: 'src/core/user-state.ts',
    find: 'sums.total += wire.unread;',
    replace: 'sums.total += row.muted ? row.mentions : wire.unread;',
  },
  {
    name: 'a delta goes out although the push before it was lost',
    rule: 'SY4',
    file: 'src/gateway/outbound.ts',
    find: 'this.#isIdle && change.baseVersion === at.syncVersion &&',
    replace: 'this.#isIdle &&',
  },
  {
    name: 'hidden conversations are part of the digest',
    rule: 'SY8',
    file: 'protocol/digest.ts',
    find: 'return row.gone !== true && row.hidden !== true;',
    replace: 'return row.gone !== true;',
  },
  {
    name: 'a version is given although nothing visible changed',
    rule: 'SY9',
    file: 'src/core/user-state.ts',
    find: "if (old === undefined ? listingOf(row) === 'gone' : looksSame(old, row)) continue;",
    replace: "if (old === undefined && listingOf(row) === 'gone') continue;",
  },
];

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  ...COMMON_FAULTS,
  ...PLANTED_STATE_GUARDS,
  ...PLANTED_TRUTH_GUARDS,
  ...PLANTED_SERVICE_GUARDS,
  ...PLANTED_STREAM_GUARDS,
];

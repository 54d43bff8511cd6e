// Why a number is what it is, in sentences.
import type { ExplainAnswer, FloorSource, InspectedRow } from '../../protocol/http.ts';

const FLOORS: Readonly<Record<FloorSource, string>> = {
  read: 'so far the user has read',
  join: 'there the user joined',
  clear: 'so far the user deleted the conversation',
  purge: 'so far messages were removed for everybody',
  none: 'nothing has been read, deleted or removed',
};

export function explained(answer: ExplainAnswer, row: InspectedRow | undefined): string[] {
  const { head, floor, floor_from, unread, mentions, counted, left_out } = answer;
  const rest = unread - counted.length;
  const named = counted.length === 0 ? 'none' : `${counted.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  const out = [
    [left_out.own, "the user's own"],
    [left_out.not_countable, 'not countable'],
    [left_out.recalled, 'recalled'],
    [left_out.capped, 'above the cap of large conversations'],
  ] as const;
  const leftOut = out.filter(([count]) => count > 0).map(([count, why]) => `${count} ${why}`);
  return [
    `Truth counts ${unread} unread, ${mentions} of them mentions.`,
    `The newest message is seq ${head}; counting begins above seq ${floor}: ${FLOORS[floor_from]}.`,
    `Counted seqs: ${named}.`,
    `Left out: ${leftOut.length === 0 ? 'none' : leftOut.join(', ')}.`,
    ...onState(row),
  ];
}

function onState(row: InspectedRow | undefined): string[] {
  if (row === undefined || row.state === null || row.truth === null) return ['The state holds no such row.'];
  const { verdict, state, truth, differ } = row;
  const fields = differ.join(', ');
  switch (verdict) {
    case 'same':
      return [`The state holds ${state.unread} unread: the same.`];
    case 'wrong':
      return [
        `The state holds ${state.unread} unread at the same revs (${truth.conv_rev}, ${truth.member_rev}), which is wrong: ${fields}. Repair puts it right.`,
      ];
    case 'behind':
      return [
        `The state holds ${state.unread} unread at revs ${state.conv_rev}, ${state.member_rev}; truth stands at ${truth.conv_rev}, ${truth.member_rev}. The change is on its way; in a large conversation it waits until the user asks.`,
      ];
    case 'ahead':
      return [
        `The state holds ${state.unread} unread at revs ${state.conv_rev}, ${state.member_rev}, which truth (${truth.conv_rev}, ${truth.member_rev}) has never had: was truth restored from a copy?`,
      ];
  }
}

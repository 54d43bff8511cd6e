import type { Truth } from './ports.ts';
import { demandClaim } from './state/claimed-state.ts';

/**
 * Truth for a node that must be the only one. While it is not sure of that, it reads and changes nothing: another node, which holds its
 * state in memory, would not hear of the change and go on with the number of before. Looked at last, since a stop may come at any time.
 */
export function claimedTruth(truth: Truth, isHeld: () => boolean): Truth {
  return {
    transact: (work) =>
      truth.transact(async (tx) => {
        const answer = await work(tx);
        demandClaim(isHeld);
        return answer;
      }),
    rows: (pairs) => truth.rows(pairs),
    rowsOfUser: (user) => truth.rowsOfUser(user),
    membersOf: (conv) => truth.membersOf(conv),
    revsOf: (convs) => truth.revsOf(convs),
    countMessages: (pair, floorSeq) => truth.countMessages(pair, floorSeq),
    heads: (convs) => truth.heads(convs),
    users: (after, limit) => truth.users(after, limit),
    outbox: (olderThanMs, limit) => truth.outbox(olderThanMs, limit),
    outboxDone: (ids) => truth.outboxDone(ids),
    trimEvents: (acceptedBeforeMs, limit) => truth.trimEvents(acceptedBeforeMs, limit),
    ping: () => truth.ping(),
    close: () => truth.close(),
  };
}

import type { AckItem, Event } from '../../protocol/index.ts';
import { ackRequest, draftAcks } from '../../src/core/commands/acks.ts';
import { type ClearCommand, draftClear, planAway } from '../../src/core/commands/clear.ts';
import { type CommandDraft, commandRequest, type CommandOutcome, settle } from '../../src/core/commands/command.ts';
import { draftMark, type MarkCommand } from '../../src/core/commands/mark.ts';
import { draftPrefs, type PrefsCommand } from '../../src/core/commands/prefs.ts';
import { fingerprintText } from '../../src/core/ingest/fingerprint.ts';
import { type IngestPlan, planIngest } from '../../src/core/ingest/plan.ts';
import { ingestDetailsRequest, ingestRequest } from '../../src/core/ingest/request.ts';
import { deriveRow, type DerivedRow } from '../../src/core/row.ts';
import type { ConvUser } from '../../src/core/transaction-facts.ts';
import { FactBase } from './fact-base.ts';

export interface Commanded {
  readonly outcomes: readonly CommandOutcome[];
  readonly changed: readonly ConvUser[];
}

const GROUP_THRESHOLD = 3;

/** Events and commands carried out by the rules of core over a FactBase, in the steps in which the services do it. */
export class CoreRun {
  readonly base = new FactBase();
  #activity = 0;

  post(...events: Event[]): IngestPlan {
    const facts = this.base.load(ingestRequest(events));
    const request = ingestDetailsRequest(events, facts);
    const plan = planIngest({
      events,
      fingerprints: events.map(fingerprintText),
      facts,
      details: request === null ? null : this.base.load(request),
      nowMs: 1_700_000_000_000,
      nextActivity: () => ++this.#activity,
    });
    this.base.store(plan.writes);
    return plan;
  }

  ack(user: string, ...items: AckItem[]): Commanded {
    return this.acks(items.map((item) => ({ user, item })));
  }

  acks(acks: readonly { user: string; item: AckItem }[]): Commanded {
    return this.#finish(draftAcks(acks, this.base.load(ackRequest(acks))));
  }

  mark(command: MarkCommand): Commanded {
    return this.#finish(draftMark(command, this.base.load(commandRequest([command]))));
  }

  prefs(command: PrefsCommand): Commanded {
    return this.#finish(draftPrefs(command, this.base.load(commandRequest([command]))));
  }

  clear(command: ClearCommand): Commanded {
    const draft = draftClear(command, this.base.load(commandRequest([command])), this.base.row(command));
    const { outcomes, changed } = this.#finish(draft);
    const away = planAway(draft, this.base.row(command));
    this.base.store({ memberships: away.memberships });
    return { outcomes, changed: [...changed, ...away.changed] };
  }

  /** Null: no such conversation, or the user never had to do with it. */
  row(user: string, conv: string): DerivedRow | null {
    const facts = this.base.row({ user, conv });
    return facts && deriveRow(facts, GROUP_THRESHOLD);
  }

  #finish(draft: CommandDraft): Commanded {
    const { memberships, changed } = settle(draft, draft.places && this.base.load(draft.places));
    this.base.store({ memberships });
    return { outcomes: draft.outcomes, changed };
  }
}

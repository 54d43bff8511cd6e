/** At the end every number is looked at: what each device shows against GET, and what GET answers against what was sent. */
import { inParallel } from './in-parallel.ts';
import { held, pulled, type Shown } from './shown.ts';
import type { Stage } from './stage.ts';
import type { Target } from './target.ts';

export interface Verdict {
  readonly users: number;
  readonly devices: number;
  readonly rows: number;
  /** One line for each fault. */
  readonly wrong: readonly string[];
}

const PARALLEL_USERS = 16;
/** Notices of large conversations are merged for half a second before they go out. */
const QUIET_MS = 1500;

export async function judge(stage: Stage, target: Target): Promise<Verdict> {
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  const wrong = [...stage.faults];
  let rows = 0;
  const convsOf = new Map<string, Set<string>>();
  for (const { conv, members } of stage.cast.conversations) {
    for (const { user } of members) convsOf.set(user, (convsOf.get(user) ?? new Set()).add(conv));
  }
  await inParallel(stage.cast.people, PARALLEL_USERS, async (person) => {
    const devices: Shown[] = [];
    for (const device of stage.crowd.devicesOf(person)) devices.push(await held(device, target, wrong));
    const answer = await pulled(person.user, target);
    for (const device of devices) compare(device, answer, wrong);
    rows += answer.rows.length;
    const expected = new Set(convsOf.get(person.user));
    for (const row of answer.rows) {
      const fault = expected.delete(row.conv) ? stage.ledgers.faultOf(row, person.user) : `${row.conv} is listed`;
      if (fault !== null) wrong.push(`${answer.name}: ${fault}`);
    }
    for (const conv of expected) wrong.push(`${answer.name}: ${conv} is not listed`);
  });
  return { users: stage.cast.people.length, devices: stage.crowd.devices.length, rows, wrong };
}

/** [SY7] Equal sums and digests at one version are equal rows. */
function compare(device: Shown, answer: Shown, wrong: string[]): void {
  for (const what of ['epoch', 'syncVersion', 'total', 'badge', 'mentions', 'digest'] as const) {
    if (device[what] !== answer[what]) {
      wrong.push(`${device.name}: ${what} is ${device[what]}, not ${answer[what]} as GET has it`);
    }
  }
}

import type { Device } from '../device.ts';
import { Histogram } from '../histogram.ts';
import type { Scenario } from '../scenario.ts';

const TEAM = 10;
const TEAMS_A_PERSON = 5;
const KIND = 'team';
/** The line breaks after this share of the time. */
const CUT_AFTER = 0.25;
/** A device that is not right after this has not come back. */
const BACK_WITHIN_MS = 60_000;
const MS_PER_SECOND = 1000;

/** Every line breaks in one moment, and every device dials again in the next, without any spreading: the worst that can happen. */
export const reconnectStorm: Scenario = {
  name: 'reconnect-storm',
  question: 'all devices are cut off at once: how long until each is right again, and by what',
  defaults: { seconds: 20, rate: 50, connections: 2000 },

  cast(casting, { connections }) {
    for (let i = 0; i < Math.max(TEAM, connections); i++) casting.person(1);
    casting.groups(KIND, Math.ceil((casting.people.length * TEAMS_A_PERSON) / TEAM), TEAM);
  },

  arrive(stage, dueMs) {
    const { random, cast } = stage;
    const team = random.pick(cast.ofKind(KIND));
    stage.say(team, random.pick(team.members), [], dueMs);
    if (random.fraction() < 0.5) stage.read(team, random.pick(team.members), dueMs);
  },

  async play(stage) {
    const { rate, seconds } = stage.scale;
    const { devices } = stage.crowd;
    const modes = { noop: 0, delta: 0, snapshot: 0 };
    const back = new Histogram();
    const arrivals = stage.arrivals(rate, seconds);
    await new Promise((resolve) => setTimeout(resolve, seconds * CUT_AFTER * MS_PER_SECOND));
    const failedBefore = stage.crowd.counts.failed;
    const cutAtMs = performance.now();
    const isLost = async (device: Device): Promise<boolean> => {
      device.cut(0);
      if (!(await device.waitFor(() => !device.isSettled, BACK_WITHIN_MS))) return true;
      if (!(await device.waitFor(() => device.isSettled, BACK_WITHIN_MS))) return true;
      back.record(performance.now() - cutAtMs);
      if (device.greetedBy !== null) modes[device.greetedBy]++;
      return false;
    };
    const lost = (await Promise.all(devices.map(isLost))).filter(Boolean).length;
    await arrivals;
    stage.ownTimes.set('cut → right again', back);
    if (lost > 0) stage.faults.push(`${lost} devices were not right again within ${BACK_WITHIN_MS} ms`);
    return {
      'not back': lost,
      'sockets that failed': stage.crowd.counts.failed - failedBefore,
      'back by noop': modes.noop,
      'back by delta': modes.delta,
      'back by snapshot': modes.snapshot,
    };
  },
};

import type { EpochSource, Random } from '../../ports.ts';
import { Bulk } from './bulk.ts';
import { byBytes } from './byte-order.ts';
import type { Session } from './session.ts';

const EPOCH_LENGTH = 8;
const CLAIM_LENGTH = 16;

const INSTALLATION = 'SELECT epoch FROM installation WHERE id = 1';
/** Whoever is first decides. */
const FIRST_EPOCH = 'INSERT INTO installation (id, epoch) VALUES (1, ?) ON DUPLICATE KEY UPDATE id = VALUES(id)';
const CLAIMS = new Bulk(
  '(?, ?)',
  (rows) => `INSERT INTO built_users (user, claim) VALUES ${rows} ON DUPLICATE KEY UPDATE user = VALUES(user)`,
);
const CLAIMED = new Bulk(
  '?',
  (rows) => `SELECT user, claim FROM built_users FORCE INDEX (PRIMARY) WHERE user IN (${rows})`,
);

interface EpochsParts {
  readonly write: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  readonly random: Random;
}

interface Draw {
  readonly user: string;
  readonly resolve: (epoch: string) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * SY1 over truth, for a state that outlives its nodes: all users share one epoch at their first build ever, which is claimed durably
 * before it is handed out. Every later build means that something was lost, and draws one that nobody has had. A claim whose answer
 * was lost counts: its user draws a fresh one next time.
 */
export class TruthEpochs implements EpochSource {
  readonly #write: EpochsParts['write'];
  readonly #random: Random;
  #waiting: Draw[] = [];
  #isRunning = false;

  constructor({ write, random }: EpochsParts) {
    this.#write = write;
    this.#random = random;
  }

  async draw(user: string): Promise<string> {
    return new Promise<string>((resolve, reject) => {
      this.#waiting.push({ user, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  /** While one batch is in flight the next gathers. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#answer(batch);
    }
    this.#isRunning = false;
  }

  async #answer(batch: readonly Draw[]): Promise<void> {
    try {
      const { epoch, first } = await this.#write(async (session) => this.#claim(session, batch));
      for (const { user, resolve } of batch) resolve(first.delete(user) ? epoch : this.#fresh());
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async #claim(session: Session, batch: readonly Draw[]): Promise<{ epoch: string; first: Set<string> }> {
    const users = [...new Set(batch.map(({ user }) => user))].toSorted(byBytes);
    const claim = this.#random.token(CLAIM_LENGTH);
    await CLAIMS.run(
      session,
      users.map((user) => [user, claim]),
    );
    const rows = await CLAIMED.all(
      session,
      users.map((user) => [user]),
    );
    const first = rows.flatMap(([user, by]) => (by === claim ? [user as string] : []));
    return { epoch: await this.#installation(session), first: new Set(first) };
  }

  async #installation(session: Session): Promise<string> {
    const [known] = await session.all(INSTALLATION, []);
    if (known !== undefined) return known[0] as string;
    await session.run(FIRST_EPOCH, [this.#fresh()]);
    const [made] = await session.all(INSTALLATION, []);
    return made?.[0] as string;
  }

  #fresh(): string {
    return this.#random.token(EPOCH_LENGTH);
  }
}

import type { EpochSource, Random } from '../ports.ts';

export interface MemoryEpochsOptions {
  readonly random: Random;
  /** Users remembered under one epoch; above it the next one is drawn. */
  readonly usersMax?: number;
}

const EPOCH_LENGTH = 8;
const USERS_MAX = 200_000;

/**
 * SY1 in the memory of one process. Users share the epoch drawn at the start until one of them is built a second time, which means
 * that something was lost: then the next is drawn. So no user is ever given one epoch twice, and where nothing is lost a look at
 * two users shows it.
 */
export function createMemoryEpochs({ random, usersMax = USERS_MAX }: MemoryEpochsOptions): EpochSource {
  let epoch = random.token(EPOCH_LENGTH);
  const drawn = new Set<string>();
  return {
    draw(user) {
      if (drawn.has(user) || drawn.size >= usersMax) {
        epoch = random.token(EPOCH_LENGTH);
        drawn.clear();
      }
      drawn.add(user);
      return Promise.resolve(epoch);
    },
  };
}

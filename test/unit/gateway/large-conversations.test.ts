import { describe, expect, test } from 'vitest';
import { LargeConversations } from '../../../src/gateway/large-conversations.ts';
import { createLog } from '../../../src/log.ts';

describe('[CN8] large conversations', () => {
  class Fixture {
    readonly calls: [string, readonly string[], string][] = [];
    readonly local = new Set<string>();
    release: (() => void)[] = [];
    failure: Error | null = null;
    readonly large = new LargeConversations(
      {
        log: createLog('silent'),
        fanOut: {
          refreshLarge: async (conv, users, op) => {
            this.calls.push([conv, users, op]);
            if (this.failure !== null) throw this.failure;
            await new Promise<void>((resolve) => this.release.push(resolve));
          },
        },
      },
      (user) => this.local.has(user),
    );

    notice(conv: string, given: { op?: 'message' | 'recall'; newcomers?: string[] } = {}): void {
      this.large.notices([{ conv, rev: 1, op: given.op ?? 'message', newcomers: given.newcomers ?? [] }]);
    }

    async done(): Promise<void> {
      for (const release of this.release.splice(0)) release();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  function withMembers(...users: string[]): Fixture {
    const fixture = new Fixture();
    for (const user of users) {
      fixture.local.add(user);
      fixture.large.register(user, ['g1'], fixture.large.mark);
    }
    return fixture;
  }

  test('a notice makes the rows of the members here be derived, and of nobody else', () => {
    const fixture = withMembers('u1', 'u2');
    fixture.notice('g1');
    fixture.notice('g2');
    expect(fixture.calls).toEqual([['g1', ['u1', 'u2'], 'message']]);
  });

  test('notices during a refresh become one more', async () => {
    const fixture = withMembers('u1');
    for (const op of ['message', 'message', 'recall'] as const) fixture.notice('g1', { op });
    expect(fixture.calls.length).toBe(1);
    await fixture.done();
    expect(fixture.calls.slice(1)).toEqual([['g1', ['u1'], 'merged']]);
    await fixture.done();
    expect(fixture.calls.length).toBe(2);
  });

  test('who joins while connected is told of what follows; who is not here is not', () => {
    const fixture = withMembers('u1');
    fixture.local.add('u3');
    fixture.notice('g1', { newcomers: ['u3', 'u4'] });
    expect(fixture.calls).toEqual([['g1', ['u1', 'u3'], 'message']]);
  });

  test('[SY5] a notice between the read of the state and the registration is not missed', () => {
    const fixture = withMembers();
    const mark = fixture.large.mark;
    fixture.notice('g1');
    fixture.local.add('u1');
    fixture.large.register('u1', ['g1', 'g2'], mark);
    expect(fixture.calls).toEqual([['g1', ['u1'], 'merged']]);
    fixture.large.register('u1', ['g1'], mark);
    expect(fixture.calls.length).toBe(1);
  });

  test('when more was announced meanwhile than is remembered, all is derived again', () => {
    const fixture = withMembers();
    const mark = fixture.large.mark;
    for (let n = 0; n <= 10_001; n++) fixture.notice(`other${n}`);
    fixture.local.add('u1');
    fixture.large.register('u1', ['g1'], mark);
    expect(fixture.calls).toEqual([['g1', ['u1'], 'merged']]);
  });

  test('who has gone is forgotten', () => {
    const fixture = withMembers('u1');
    fixture.local.delete('u1');
    fixture.large.forget('u1');
    fixture.notice('g1', { newcomers: ['u1'] });
    fixture.large.register('u1', ['g1'], 0);
    expect(fixture.calls).toEqual([]);
  });

  test('a refresh that fails does not stop the next', async () => {
    const fixture = withMembers('u1');
    fixture.failure = new Error('away');
    fixture.notice('g1');
    await fixture.done();
    fixture.failure = null;
    fixture.notice('g1');
    expect(fixture.calls.length).toBe(2);
  });
});

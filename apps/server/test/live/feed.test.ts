/** The feed against a model: in any order of events, every follower gets every event once and in order. */

import { type VirtualClock, virtualClock } from '@nebula/drivers/memory';
import type { Engine } from '@nebula/engine';
import { comparePositions, type FeedPage, type FrameRow, positionOf, type Store } from '@nebula/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIVE_LIMITS } from '../../src/limits.ts';
import { Feed } from '../../src/live/feed.ts';

/** Some time, or none. */
type Pause = () => Promise<void>;

const none: Pause = async () => {};

/** A journal with delays: before a query is processed, and before the answer arrives. */
class ModelStore {
  private rows: FrameRow[] = [];
  private readonly seqs = new Map<string, number>();
  private readonly watchers = new Set<() => void>();
  private position = 0;
  private readonly pause: Pause;
  isBroken = false;
  /** Messages that no frame has taken. */
  requests = 0;

  constructor(pause: Pause) {
    this.pause = pause;
  }

  append(executionId: string, events: number): void {
    const entries = Array.from({ length: events }, (_, index) => ({
      type: 'node.completed',
      node: `n${index}`,
      output: { value: null },
    }));
    this.write(executionId, entries);
  }

  write(executionId: string, entries: readonly object[]): void {
    const seq = (this.seqs.get(executionId) ?? 0) + 1;
    this.seqs.set(executionId, seq);
    this.position += 1;
    const position = positionOf(this.position);
    this.rows.push({ executionId, seq, at: 0, position, entries: JSON.stringify(entries) });
    for (const watcher of this.watchers) watcher();
  }

  remove(executionId: string): void {
    this.rows = this.rows.filter((row) => row.executionId !== executionId);
  }

  /** Ids of all events that are there, in order. */
  events(isWanted: (executionId: string) => boolean): string[] {
    return this.rows
      .filter(({ executionId }) => isWanted(executionId))
      .flatMap(({ position, entries }) => (JSON.parse(entries) as unknown[]).map((_, index) => `${position}.${index}`));
  }

  private async answer<T>(look: () => T): Promise<T> {
    await this.pause();
    if (this.isBroken) throw new Error('the store is away');
    const answer = look();
    await this.pause();
    return answer;
  }

  readonly store = {
    lastPosition: () => this.answer(() => positionOf(this.position)),
    feed: ({ after, inclusive = false, limit }: FeedPage) =>
      this.answer(() => {
        const isAhead = (order: number): boolean => (inclusive ? order >= 0 : order > 0);
        return this.rows.filter(({ position }) => isAhead(comparePositions(position, after))).slice(0, limit);
      }),
    frames: (executionId: string, after: number, limit: number) =>
      this.answer(() => this.rows.filter((row) => row.executionId === executionId && row.seq > after).slice(0, limit)),
    inbox: () => this.answer(() => Array.from({ length: this.requests }, () => ({}))),
    watch: (watcher: () => void) => {
      this.watchers.add(watcher);
      return () => this.watchers.delete(watcher);
    },
  } as unknown as Store;
}

interface Subscriber {
  readonly only: string | undefined;
  readonly isWanted: (executionId: string) => boolean;
  /** The starting position; undefined: `now`. */
  readonly from: string | undefined;
  readonly seen: string[];
  stop(): Promise<void>;
}

const silent = { on: () => () => {} } as unknown as Engine;

function subscribe(
  { feed, clock, pause = none }: { feed: Feed; clock: VirtualClock; pause?: Pause },
  only: string | undefined,
  isOdd: boolean,
  after: string | undefined,
): Subscriber {
  const controller = new AbortController();
  const isWanted = (id: string): boolean =>
    (only === undefined || id === only) && (!isOdd || Number(id.slice(1)) % 2 === 1);
  const seen: string[] = [];
  const wants = async (id: string): Promise<boolean> => {
    await pause();
    return isWanted(id);
  };
  /** Reads like a client: reopens a broken stream from the last event. */
  const read = async (): Promise<void> => {
    while (!controller.signal.aborted) {
      try {
        await readOnce(seen.at(-1) ?? after);
      } catch {
        await new Promise<void>((resolve) => {
          clock.timer(50, resolve);
          controller.signal.addEventListener('abort', () => resolve());
        });
      }
    }
  };
  const readOnce = async (from: string | undefined): Promise<void> => {
    const interest = {
      signal: controller.signal,
      ...(only !== undefined && { executionId: only }),
      ...(isOdd && only === undefined && { wants }),
      ...(from !== undefined && { after: from }),
    };
    for await (const batch of feed.follow(interest)) {
      for (const { id } of batch) seen.push(id as string);
      await pause();
    }
  };
  let isDone = false;
  void read().finally(() => {
    isDone = true;
  });
  return {
    only,
    isWanted,
    from: after,
    seen,
    async stop() {
      controller.abort();
      for (let rounds = 0; !isDone; rounds++) {
        expect(rounds).toBeLessThan(100);
        await clock.advance(50);
      }
    },
  };
}

function isBeyond(one: string, other: string): boolean {
  const [a = 0, b = 0] = one.split('.').map(Number);
  const [c = 0, d = 0] = other.split('.').map(Number);
  return a === c ? b > d : a > c;
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      run: fc.nat(3),
      events: fc.integer({ min: 0, max: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('join' as const),
      run: fc.option(fc.nat(3)),
      odd: fc.boolean(),
      from: fc.constantFrom('start', 'now', 'seen'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), who: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), run: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('break' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 3, 8, 20, 600) }) },
);

describe('the feed', () => {
  it('[SRV-50] delivers every event once and in order, whatever followers and runs come, go, break or are deleted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.array(fc.nat(6), { minLength: 1, maxLength: 50 }),
        async (steps, delays) => {
          let turn = 0;
          // A move of the clock or two: what else happens, happens in between.
          const pause = async (): Promise<void> => {
            const ms = delays[turn++ % delays.length] as number;
            if (ms > 0) await new Promise<void>((resolve) => void clock.timer(ms, resolve));
          };
          const clock = virtualClock(0);
          const model = new ModelStore(pause);
          const feed = new Feed({ engine: silent, store: model.store, clock, onTrouble: () => {} });
          const opening = feed.open();
          await clock.advance(50);
          await opening;
          const here: Subscriber[] = [];
          const all: Subscriber[] = [];
          for (const one of steps) {
            if (one.do === 'append') model.append(`e${one.run}`, one.events);
            else if (one.do === 'remove') model.remove(`e${one.run}`);
            else if (one.do === 'pass') await clock.advance(one.ms);
            else if (one.do === 'break') {
              model.isBroken = true;
              await clock.advance(20);
              model.isBroken = false;
            } else if (one.do === 'leave') await here.splice(one.who, 1)[0]?.stop();
            else {
              const only = one.run === null ? undefined : `e${one.run}`;
              const before = all.map(({ seen }) => seen).find((seen) => seen.length > 0);
              const after =
                one.from === 'now' ? 'now' : one.from === 'seen' ? before?.[Math.floor(before.length / 2)] : undefined;
              const subscriber = subscribe({ feed, clock, pause }, only, one.odd, after);
              here.push(subscriber);
              all.push(subscriber);
            }
          }
          await passTime(clock);
          for (const subscriber of here) check(model, subscriber);
          for (const { seen } of all) expectRising(seen);
          for (const subscriber of here) await subscriber.stop();
          expect(feed.size).toBe(0);
          feed.close();
        },
      ),
      { numRuns: 300 },
    );
  }, 60_000);

  /** A follower that is still connected has got every event that still exists. */
  function check(model: ModelStore, { isWanted, from, seen }: Subscriber): void {
    const there = model.events(isWanted);
    if (from === 'now') {
      // The starting point of `now` is unknown; after the first event nothing is missing.
      const first = seen.find((id) => there.includes(id));
      const wanted = first === undefined ? [] : there.filter((id) => id === first || isBeyond(id, first));
      expect(seen.filter((id) => there.includes(id))).toEqual(wanted);
      return;
    }
    const wanted = from === undefined ? there : there.filter((id) => isBeyond(id, from));
    expect(seen.filter((id) => there.includes(id))).toEqual(wanted);
  }

  function expectRising(ids: readonly string[]): void {
    for (let index = 1; index < ids.length; index++) {
      expect(isBeyond(ids[index] as string, ids[index - 1] as string), ids.join(' ')).toBe(true);
    }
  }

  async function passTime(clock: VirtualClock): Promise<void> {
    for (let round = 0; round < 8; round++) await clock.advance(1_100);
  }

  async function fed(): Promise<{ feed: Feed; model: ModelStore; clock: VirtualClock }> {
    const clock = virtualClock(0);
    const model = new ModelStore(none);
    const feed = new Feed({ engine: silent, store: model.store, clock, onTrouble: () => {} });
    await feed.open();
    return { feed, model, clock };
  }

  it('[SRV-782] a follower that catches up while the reader goes on misses nothing', async () => {
    const clock = virtualClock(0);
    const model = new ModelStore(none);
    const held: (() => void)[] = [];
    let isHeld = true;
    const feed = async (page: FeedPage): Promise<readonly FrameRow[]> => {
      const rows = await model.store.feed(page);
      if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
      return rows;
    };
    const own = new Feed({ engine: silent, store: { ...model.store, feed }, clock, onTrouble: () => {} });
    await own.open();
    const subscriber = subscribe({ feed: own, clock }, undefined, false, undefined);
    await expect.poll(() => held.length).toBe(1);
    // Nobody is level, so the reader only notes the new end; the page that the follower has read lacks the event.
    model.append('e0', 1);
    await clock.advance(20);
    isHeld = false;
    held[0]?.();
    await passTime(clock);
    model.append('e1', 1);
    await passTime(clock);
    expect(subscriber.seen).toEqual(['1.0', '2.0']);
    await subscriber.stop();
    own.close();
  });

  it.each([undefined, '700.0', 'now'])('[SRV-653] a long run is read page by page, after %s', async (after) => {
    const { feed, model, clock } = await fed();
    for (let at = 0; at < 1_200; at++) model.append(at % 2 === 0 ? 'e0' : 'e1', 2);
    const subscriber = subscribe({ feed, clock }, 'e0', false, after);
    await passTime(clock);
    model.append('e0', 3);
    await passTime(clock);
    const there = model.events((id) => id === 'e0');
    const wanted = after === undefined ? there : there.filter((id) => isBeyond(id, after === 'now' ? '1200.9' : after));
    expect(subscriber.seen).toEqual(wanted);
    await subscriber.stop();
    feed.close();
  });

  it('[SRV-653] followers at one position continue a few per turn, and get new events a few per turn', async () => {
    const { feed, model, clock } = await fed();
    for (let at = 0; at < 100; at++) model.append('e0', 1);
    const many = 600;
    const controller = new AbortController();
    let got = 0;
    for (let at = 0; at < many; at++) {
      void (async () => {
        for await (const events of feed.follow({ signal: controller.signal })) got += events.length;
      })();
    }
    const perTurn = async (total: number): Promise<number> => {
      let most = 0;
      while (got < total) {
        const before = got;
        await new Promise((resolve) => setImmediate(resolve));
        most = Math.max(most, got - before);
      }
      return most;
    };
    expect(await perTurn(many * 100)).toBeLessThanOrEqual(2 * LIVE_LIMITS.maxPagesPerTurn * 100);
    await passTime(clock);
    model.append('e0', 1);
    const moving = clock.advance(20);
    expect(await perTurn(many * 101)).toBeLessThanOrEqual(2 * LIVE_LIMITS.maxWokenPerTurn);
    await moving;
    controller.abort();
    feed.close();
  });

  it('[SRV-51] a follower that does not read costs a bounded buffer, and misses no event in the end', async () => {
    const { feed, model, clock } = await fed();
    const controller = new AbortController();
    const stream = feed.follow({ signal: controller.signal })[Symbol.asyncIterator]();
    model.append('e0', 1);
    const seen = ((await stream.next()).value as { id: string }[]).map(({ id }) => id);
    // The follower is level now, and does not read for a while.
    const waits = stream.next();
    await passTime(clock);
    model.append('e0', 1);
    await passTime(clock);
    seen.push(...((await waits).value as { id: string }[]).map(({ id }) => id));
    for (let frame = 0; frame < 3_000; frame++) {
      model.append('e0', 3);
      if (frame % 100 === 0) await clock.advance(20);
    }
    await passTime(clock);
    const [listener] = (feed as unknown as { listeners: Set<{ buffer: unknown[] }> }).listeners;
    expect(listener?.buffer.length).toBeLessThanOrEqual(2_000);
    while (seen.length < 9_002) {
      const { value } = (await stream.next()) as { value: { id: string }[] };
      expect(value.length).toBeLessThanOrEqual(2_000);
      seen.push(...value.map(({ id }) => id));
    }
    expect(seen).toEqual(model.events(() => true));
    controller.abort();
    await stream.return?.();
    expect(feed.size).toBe(0);
    feed.close();
  });

  it('[SRV-51] the past of a long run comes in pages, not at once', async () => {
    const { feed, model } = await fed();
    for (let frame = 0; frame < 5_000; frame++) model.append('e0', 2);
    const controller = new AbortController();
    const seen: string[] = [];
    for await (const batch of feed.follow({ executionId: 'e0', signal: controller.signal })) {
      expect(batch.length).toBeLessThanOrEqual(1_000);
      seen.push(...batch.map(({ id }) => id as string));
      if (seen.length === 10_000) break;
    }
    expect(seen).toEqual(model.events(() => true));
    feed.close();
  });

  const FINISHED = { type: 'run.finished', status: 'failed' };
  const REOPENED = { type: 'run.reopened', nodes: ['n0'] };

  /** Follows one run, and tells what was sent and whether the stream has ended. */
  function listenTo(feed: Feed, after?: string): { readonly sent: string[]; readonly isOver: () => boolean } {
    const sent: string[] = [];
    let isOver = false;
    void (async () => {
      const interest = {
        executionId: 'e0',
        signal: new AbortController().signal,
        ...(after !== undefined && { after }),
      };
      for await (const batch of feed.follow(interest)) sent.push(...batch.map(({ id, event }) => id ?? String(event)));
      isOver = true;
    })();
    return { sent, isOver: () => isOver };
  }

  it('[SRV-840] the stream of a run ends after its last event; of an ended one at once, from any position', async () => {
    const { feed, model, clock } = await fed();
    model.append('e0', 1);
    const early = listenTo(feed);
    await passTime(clock);
    expect([early.sent, early.isOver()]).toEqual([['1.0'], false]);
    model.write('e0', [FINISHED]);
    model.append('e1', 1);
    await passTime(clock);
    expect([early.sent, early.isOver()]).toEqual([['1.0', '2.0', 'end'], true]);
    for (const [after, sent] of [
      [undefined, ['1.0', '2.0', 'end']],
      ['1.0', ['2.0', 'end']],
      ['2.0', ['end']],
      ['3.0', ['end']],
      ['now', ['end']],
    ] as const) {
      const late = listenTo(feed, after);
      await passTime(clock);
      expect([late.sent, late.isOver()], after).toEqual([sent, true]);
    }
    expect(feed.size).toBe(0);
    feed.close();
  });

  it('[SRV-840] a reopened run is followed further, and so is one with a request in its inbox', async () => {
    const { feed, model, clock } = await fed();
    model.write('e0', [FINISHED]);
    model.write('e0', [REOPENED]);
    const reopened = listenTo(feed, '2.0');
    await passTime(clock);
    expect(reopened.isOver()).toBe(false);
    model.requests = 1;
    model.write('e0', [FINISHED]);
    await passTime(clock);
    expect([reopened.sent, reopened.isOver()]).toEqual([['3.0'], false]);
    // The frame that takes the request reopens the run.
    model.write('e0', [REOPENED]);
    model.requests = 0;
    await passTime(clock);
    expect([reopened.sent, reopened.isOver()]).toEqual([['3.0', '4.0'], false]);
    model.write('e0', [{ type: 'node.completed', node: 'n0', output: { value: 'run.finished' } }, FINISHED]);
    await passTime(clock);
    expect([reopened.sent, reopened.isOver()]).toEqual([['3.0', '4.0', '5.0', '5.1', 'end'], true]);
    feed.close();
  });

  it('[SRV-840] a run that is reopened before the reader has noticed is followed from now on', async () => {
    const { feed, model, clock } = await fed();
    model.write('e0', [FINISHED]);
    await passTime(clock);
    const ended = listenTo(feed, 'now');
    await passTime(clock);
    expect([ended.sent, ended.isOver()]).toEqual([['end'], true]);
    model.write('e0', [REOPENED]);
    const reopened = listenTo(feed, 'now');
    await passTime(clock);
    expect([reopened.sent, reopened.isOver()]).toEqual([[], false]);
    model.write('e0', [FINISHED]);
    await passTime(clock);
    expect([reopened.sent, reopened.isOver()]).toEqual([['3.0', 'end'], true]);
    feed.close();
  });

  it('[SRV-840] a request that was taken while the end was checked is seen in the journal', async () => {
    const clock = virtualClock(0);
    const model = new ModelStore(none);
    const store = model.store;
    const inbox = async () => {
      if (model.requests > 0) {
        model.requests = 0;
        model.write('e0', [REOPENED]);
      }
      return [];
    };
    const feed = new Feed({ engine: silent, store: { ...store, inbox } as Store, clock, onTrouble: () => {} });
    await feed.open();
    model.write('e0', [FINISHED]);
    model.requests = 1;
    const follower = listenTo(feed);
    await passTime(clock);
    expect([follower.sent, follower.isOver()]).toEqual([['1.0', '2.0'], false]);
    feed.close();
  });

  it('[SRV-52] `now` is now: nothing that was written before is shown', async () => {
    const { feed, model, clock } = await fed();
    model.append('e0', 2);
    const subscriber = subscribe({ feed, clock }, undefined, false, 'now');
    await clock.advance(0);
    await passTime(clock);
    model.append('e0', 1);
    await passTime(clock);
    expect(subscriber.seen).toEqual(['2.0']);
    await subscriber.stop();
    feed.close();
  });

  it('[SRV-52] a position beyond the end belongs to another history: only new events are sent', async () => {
    const { feed, model, clock } = await fed();
    model.append('e0', 1);
    const subscriber = subscribe({ feed, clock }, undefined, false, '999.0');
    await passTime(clock);
    model.append('e0', 1);
    await passTime(clock);
    expect(subscriber.seen).toEqual(['2.0']);
    await subscriber.stop();
    feed.close();
  });

  it('[SRV-50] a follower that joins while the reader looks for the end misses no event', async () => {
    const { feed, model, clock } = await fed();
    const { lastPosition } = model.store;
    const blocked = Promise.withResolvers<void>();
    model.store.lastPosition = async () => {
      await blocked.promise;
      return lastPosition();
    };
    model.append('e0', 1);
    await clock.advance(20);
    const subscriber = subscribe({ feed, clock }, undefined, false, undefined);
    await clock.advance(1);
    model.append('e0', 1);
    blocked.resolve();
    await passTime(clock);
    expect(subscriber.seen).toEqual(['1.0', '2.0']);
    await subscriber.stop();
    feed.close();
  });

  it('[SRV-50] a position within a frame continues in that frame', async () => {
    const { feed, model, clock } = await fed();
    model.append('e0', 4);
    const subscribers = [undefined, 'e0'].map((only) => subscribe({ feed, clock }, only, false, '1.1'));
    await passTime(clock);
    for (const subscriber of subscribers) expect(subscriber.seen).toEqual(['1.2', '1.3']);
    for (const subscriber of subscribers) await subscriber.stop();
    feed.close();
  });
});

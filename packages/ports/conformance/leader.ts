/** The contract of leaders, by the rules of SPEC.md. */

import type { Campaign, Leader } from '@nebula/ports';
import { describe, expect, test, vi } from 'vitest';

export interface LeaderSubject {
  readonly leader: Leader;
  /** Another instance for the same names, as in another process. */
  readonly beside?: () => Promise<Leader>;
  readonly close: () => Promise<void>;
}

/** How long a name may have no leader after one resigned. */
const TAKEOVER_MS = 30_000;

export function leaderSuite(name: string, open: () => Promise<LeaderSubject>): void {
  describe(`leader contract: ${name}`, () => {
    leaderTests((title, body) =>
      test(title, { timeout: 2 * TAKEOVER_MS }, async () => {
        const subject = await open();
        try {
          await body(subject);
        } finally {
          await subject.close();
        }
      }),
    );
  });
}

type LeaderTest = (title: string, body: (subject: LeaderSubject) => Promise<void>) => void;

function leaderTests(test: LeaderTest): void {
  test('[LEA-1] one of many leads, for each name', async ({ leader, beside }) => {
    const other = beside === undefined ? leader : await beside();
    const schedules = [leader, other, leader].map((each) => follow(each, 'schedules'));
    const cleaning = [other, leader].map((each) => follow(each, 'cleaning'));
    await vi.waitFor(() => expect(leading([...schedules, ...cleaning])).toHaveLength(2), TAKEOVER_MS);
    expect(leading(schedules)).toHaveLength(1);
    await resignAll([...schedules, ...cleaning]);
  });

  test('[LEA-2] candidates take over one after the other, later ones included', async ({ leader, beside }) => {
    const other = beside === undefined ? leader : await beside();
    const all = [leader, other, leader, other].map((each) => follow(each, 'schedules'));
    for (let left = all; left.length > 0; ) {
      await vi.waitFor(() => expect(leading(left)).toHaveLength(1), TAKEOVER_MS);
      const [first] = leading(left) as [Followed];
      await first.campaign.resign();
      left = left.filter((each) => each !== first);
    }
    const late = follow(other, 'schedules');
    await vi.waitFor(() => expect(leading([late])).toHaveLength(1), TAKEOVER_MS);
    await resignAll([late]);
  });

  test('[LEA-3] changes are reported after they happened, and after campaign has returned', async ({ leader }) => {
    const changes: boolean[] = [];
    let campaign: Campaign | undefined;
    campaign = leader.campaign('schedules', (isLeader) => changes.push(isLeader === campaign?.isLeader));
    expect(changes).toEqual([]);
    await vi.waitFor(() => expect(campaign.isLeader).toBe(true), TAKEOVER_MS);
    await vi.waitFor(() => expect(changes).toEqual([true]), TAKEOVER_MS);
    await campaign.resign();
  });

  test('[LEA-4] a candidate that has resigned no longer leads', async ({ leader }) => {
    const [first, second, third] = [1, 2, 3].map(() => follow(leader, 'schedules')) as [Followed, Followed, Followed];
    await vi.waitFor(() => expect(leading([first, second, third])).toHaveLength(1), TAKEOVER_MS);
    const [leads] = leading([first, second, third]) as [Followed];
    const [waits, last] = [first, second, third].filter((each) => each !== leads) as [Followed, Followed];
    await waits.campaign.resign();
    await leads.campaign.resign();
    expect(leads.campaign.isLeader).toBe(false);
    await vi.waitFor(() => expect(last.campaign.isLeader).toBe(true), TAKEOVER_MS);
    await leads.campaign.resign();
    await waits.campaign.resign();
    expect(last.campaign.isLeader).toBe(true);
    const brief = follow(leader, 'other');
    await brief.campaign.resign();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(brief.campaign.isLeader).toBe(false);
    expect([leads.changes, waits.changes, last.changes]).toEqual([[true], [], [true]]);
    await resignAll([last]);
  });
}

interface Followed {
  readonly campaign: Campaign;
  readonly changes: readonly boolean[];
}

function follow(leader: Leader, name: string): Followed {
  const changes: boolean[] = [];
  return { campaign: leader.campaign(name, (isLeader) => changes.push(isLeader)), changes };
}

function leading(all: readonly Followed[]): readonly Followed[] {
  return all.filter(({ campaign }) => campaign.isLeader);
}

async function resignAll(all: readonly Followed[]): Promise<void> {
  for (const { campaign } of all) await campaign.resign();
}

/** Every example of a workflow pattern shows what docs/patterns.md says of it. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Json } from '@nebula/core';
import { describe, expect, test } from 'vitest';
import { PATTERNS_DIR, PatternRun } from './pattern-run.ts';

const FILES = readdirSync(PATTERNS_DIR);
const DOCUMENT = readFileSync(path.join(import.meta.dirname, '../docs/patterns.md'), 'utf8');

type Show = (start: (input?: Json) => Promise<PatternRun>) => Promise<void>;

/** The attempts of an example that needs no person, each with start and end. */
const runs =
  (attempts: readonly string[], input?: Json): Show =>
  async (start) => {
    const run = await (await start(input)).advance('1m');
    expect(run.status).toBe('completed');
    expect(run.attempts).toEqual(attempts);
  };

const SHOWS: Readonly<Record<string, Show>> = {
  '01-sequence.yaml': runs(['pick 0s–2s', 'pack 2s–5s', 'label 5s–5s']),

  '02-parallel-split.yaml': runs(['order 0s–1s', 'pack 1s–4s', 'invoice 1s–3s']),

  '03-synchronization.yaml': runs(['pack 0s–3s', 'invoice 0s–2s', 'courier 0s–5s', 'ship 5s–6s']),

  '04-exclusive-choice.yaml': async (start) => {
    for (const [amount, taken] of [
      [5_000, 'board'],
      [500, 'manager'],
      [5, 'auto'],
    ] as const) {
      const run = await start({ amount });
      expect(run.output).toEqual([taken]);
      expect(run.attempts).toEqual([`${taken} 0s–0s`]);
    }
  },

  '05-simple-merge.yaml': async (start) => {
    const express = await (await start({ express: true })).advance('1m');
    expect(express.attempts).toEqual(['courier 0s–1s', 'deliver 1s–1s']);
    const post = await (await start({ express: false })).advance('1m');
    expect(post.attempts).toEqual(['post 0s–9s', 'deliver 9s–9s']);
  },

  '06-multi-choice.yaml': async (start) => {
    expect((await start({ kinds: [] })).output).toEqual(['nobody']);
    expect((await start({ kinds: ['theft', 'fire'] })).output).toEqual(['firefighters', 'police']);
    const all = await start({ kinds: ['fire', 'injury', 'theft'] });
    expect(all.attempts).toEqual(['firefighters 0s–0s', 'ambulance 0s–0s', 'police 0s–0s']);
  },

  '07-structured-synchronizing-merge.yaml': async (start) => {
    const two = await (await start({ kinds: ['fire', 'injury'] })).advance('1m');
    expect(two.attempts).toEqual(['firefighters 0s–4s', 'ambulance 0s–2s', 'report 4s–5s']);
    const one = await (await start({ kinds: ['injury'] })).advance('1m');
    expect(one.attempts).toEqual(['ambulance 0s–2s', 'report 2s–3s']);
  },

  '08-multi-merge.yaml': runs([
    'places/0/walk 0s–1s',
    'places/1/climb 0s–3s',
    'places/0/scan 1s–2s',
    'places/1/scan 3s–4s',
  ]),

  '09-structured-discriminator.yaml': runs([
    'readings/0/near 0s–1s',
    'readings/0/far 0s–5s',
    'readings/0/notify 1s–2s',
    'readings/1/near 5s–6s',
    'readings/1/far 5s–10s',
    'readings/1/notify 6s–7s',
  ]),

  '10-arbitrary-cycles.yaml': runs([
    'desk/0/draft 0s–1s',
    'desk/1/review 1s–3s',
    'desk/2/draft 3s–4s',
    'desk/3/review 4s–6s',
    'print 6s–7s',
  ]),

  '11-implicit-termination.yaml': async (start) => {
    const run = await (await start()).advance('6s');
    expect(run.nodes).toEqual({ order: 'completed', mail: 'completed', ship: 'running' });
    expect(run.status).toBe('running');
    expect((await run.advance('1s')).status).toBe('completed');
  },

  '12-mi-without-synchronization.yaml': async (start) => {
    const run = await (await start()).advance('2s');
    expect(run.nodes).toMatchObject({ answer: 'completed', mails: 'running', 'mails/1/known': 'failed' });
    await run.advance('8s');
    expect(run.status).toBe('completed');
    expect(run.output).toMatchObject({ mails: [{ sleptMs: 9_000 }, null, { sleptMs: 9_000 }] });
  },

  '13-mi-design-time.yaml': runs([
    'witnesses/0/testify 0s–1s',
    'witnesses/1/testify 0s–2s',
    'witnesses/2/testify 0s–3s',
    'sign 3s–4s',
  ]),

  '14-mi-run-time.yaml': async (start) => {
    const articles = [
      { name: 'pot', weight: 3 },
      { name: 'cup', weight: 1 },
      { name: 'tea', weight: 1 },
    ];
    const run = await (await start({ articles })).advance('1m');
    expect(run.attempts).toEqual(['pack/0/wrap 0s–3s', 'pack/1/wrap 0s–1s', 'pack/2/wrap 1s–2s', 'ship 3s–3s']);
    expect(run.output).toEqual(['pot, wrapped', 'cup, wrapped', 'tea, wrapped']);
    expect((await start({ articles: [] })).output).toEqual([]);
  },

  '15-mi-without-a-priori.yaml': async (start) => {
    const run = await (await start()).advance('1m');
    expect(run.output).toEqual(['home', 'shop', 'about', 'tea']);
    expect(run.attempts.filter((attempt) => attempt.includes('fetch'))).toEqual([
      'crawl/0/fetch 0s–2s',
      'crawl/1/fetch 2s–4s',
      'crawl/2/fetch 2s–4s',
      'crawl/3/fetch 4s–6s',
    ]);
  },

  '16-deferred-choice.yaml': async (start) => {
    const paid = await (await start()).signal('paid');
    expect(paid.output).toEqual(['ship']);
    const withdrawn = await (await (await start()).advance('1h')).signal('withdrawn');
    expect(withdrawn.output).toEqual(['forget']);
    const silent = await (await start()).advance('2h');
    expect(silent.output).toEqual(['remind']);
    expect(silent.nodes).toMatchObject({ ship: 'skipped', forget: 'skipped', remind: 'completed' });
  },

  '17-interleaved-parallel-routing.yaml': async (start) => {
    const run = await (await start()).advance('1m');
    expect(onlyOneAtATime(run.attempts)).toBe(true);
    expect(run.attempts).toHaveLength(4);
    const order = run.attempts.map((attempt) => attempt.split(' ')[0] as string);
    expect(order[0]).toBe('measure');
    expect(order.indexOf('cut')).toBeLessThan(order.indexOf('sew'));
  },

  '18-milestone.yaml': async (start) => {
    const early = await (await start()).signal('change-seat', '2A');
    expect(early.nodes['change-seat']).toBe('pending');
    expect((await early.advance('10m')).attempts.at(-1)).toBe('change-seat 600s–600s');
    const inTime = await (await (await start()).advance('30m')).signal('change-seat', '2A');
    expect(inTime.attempts.at(-1)).toBe('change-seat 1800s–1800s');
    const late = await (await (await start()).advance('2h')).signal('change-seat', '2A');
    const never = await (await start()).advance('3h');
    for (const run of [late, never]) {
      expect(run.status).toBe('completed');
      expect(run.nodes['change-seat']).toBe('skipped');
    }
  },

  '19-cancel-activity.yaml': async (start) => {
    const run = await (await (await start()).advance('5s')).cancel('translate');
    expect(run.nodes).toEqual({ translate: 'cancelled', proofread: 'skipped', layout: 'running', print: 'pending' });
    await run.advance('15s');
    expect(run.status).toBe('completed');
    expect(run.attempts).toEqual(['translate 0s–5s cancelled', 'layout 0s–10s', 'print 10s–20s']);
  },

  '20-cancel-case.yaml': async (start) => {
    const run = await (await start({ unit: 'company', departments: ['sales', 'research'] })).advance('1h');
    expect(run.runs).toEqual(['running', 'running', 'running']);
    await (await run.cancel()).advance('1s');
    expect(run.runs).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(run.nodes).toMatchObject({ books: 'cancelled', departments: 'cancelled', report: 'cancelled' });
  },

  '21-structured-loop.yaml': async (start) => {
    const run = await (await start()).advance('1m');
    expect(run.output).toEqual({ last: 'page 3', ready: true });
    expect(run.attempts).toEqual([
      'pages/0/read 0s–0s',
      'pages/1/read 0s–0s',
      'pages/2/read 0s–0s',
      'report/0/ask 0s–0s',
      'report/1/ask 10s–10s',
    ]);
  },

  '22-recursion.yaml': async (start) => {
    const run = await (await start({ n: 4 })).advance('1s');
    expect(run.output).toBe(24);
    expect(run.runs).toEqual(Array.from({ length: 5 }, () => 'completed'));
  },

  '23-transient-trigger.yaml': async (start) => {
    const run = await start();
    await expect(run.call('ring', 'the first')).rejects.toMatchObject({ code: 'NOT_WAITING' });
    await run.advance('1m');
    expect(run.nodes.ring).toBe('waiting');
    await run.call('ring', 'the second');
    expect(run.output).toBe('the second');
  },

  '24-persistent-trigger.yaml': async (start) => {
    const run = await (await start()).signal('paid', 'by card');
    expect(run.nodes.payment).toBe('pending');
    await run.advance('1h');
    expect(run.output).toBe('by card');
  },

  '25-cancel-region.yaml': async (start) => {
    const run = await (await (await start()).advance('90m')).cancel('trip');
    expect(run.nodes).toMatchObject({ trip: 'cancelled', leave: 'running' });
    await run.advance('3h');
    expect(run.status).toBe('completed');
    expect(run.attempts).toEqual(['trip/0/flight 0s–3600s', 'trip/0/hotel 0s–5400s cancelled', 'leave 0s–10800s']);
  },

  '26-cancel-mi.yaml': async (start) => {
    const run = await (await (await start()).advance('15s')).cancel('samples');
    expect(run.nodes).toMatchObject({ samples: 'cancelled', report: 'skipped', clean: 'running' });
    await run.advance('1m');
    expect(run.status).toBe('completed');
    expect(run.attempts).toEqual([
      'samples/0/analyse 0s–10s',
      'samples/1/analyse 0s–15s cancelled',
      'clean 0s–60s',
      'samples/2/analyse 10s–15s cancelled',
    ]);
  },

  '27-complete-mi.yaml': async (start) => {
    const run = await (await (await start()).advance('3s')).signal('enough');
    await run.advance('1m');
    expect(run.status).toBe('completed');
    expect(run.attempts).toEqual([
      'race/0/search/0/look 0s–1s',
      'race/0/search/1/look 0s–2s',
      'race/0/search/2/look 1s–3s cancelled',
      'race/0/search/3/look 2s–3s cancelled',
      'lend 3s–4s',
    ]);
    const quiet = await (await start()).advance('1m');
    expect(quiet.attempts.at(-1)).toBe('lend 9s–10s');
  },

  '29-cancelling-discriminator.yaml': async (start) => {
    const run = await (await start()).advance('1m');
    expect(run.status).toBe('completed');
    expect(run.attempts.toSorted()).toEqual([
      'note 10s–11s',
      'ways/0/ring 0s–10s cancelled',
      'ways/1/write 0s–10s',
      'ways/2/print 0s–10s cancelled',
    ]);
  },

  '30-structured-partial-join.yaml': runs([
    'cases/0/ada 0s–1s',
    'cases/0/alan 0s–9s',
    'cases/0/grace 0s–2s',
    'cases/0/decide 2s–3s',
    'cases/1/ada 9s–10s',
    'cases/1/alan 9s–18s',
    'cases/1/grace 9s–11s',
    'cases/1/decide 11s–12s',
  ]),

  '32-cancelling-partial-join.yaml': runs([
    'opinions/0/ada 0s–1s',
    'opinions/0/alan 0s–2s cancelled',
    'opinions/0/grace 0s–2s',
    'opinions/0/two 2s–2s failed',
    'decide 2s–3s',
  ]),

  '33-generalized-and-join.yaml': async (start) => {
    const run = await start();
    for (const shoe of ['left one', 'left two']) await run.signal('left', shoe);
    expect(run.attempts).toEqual([]);
    await run.signal('right', 'right one');
    expect(run.attempts).toEqual(['pairs/0/box 0s–0s']);
    await run.signal('right', 'right two');
    expect(run.output).toBe('left two with right two');
  },

  '34-static-partial-join-mi.yaml': runs(['berlin 0s–1s', 'lyon 0s–9s', 'turin 0s–2s', 'order 2s–3s']),

  '36-dynamic-partial-join-mi.yaml': async (start) => {
    const run = await (await start()).advance('1m');
    expect(run.output).toEqual([1, 2, 3]);
    expect(run.attempts.filter((attempt) => !attempt.includes('enough'))).toEqual([
      'ask/0/call 0s–2s',
      'ask/1/call 2s–4s',
      'ask/2/call 4s–6s',
      'decide 6s–7s',
    ]);
  },

  '37-local-synchronizing-merge.yaml': async (start) => {
    const house = await (await start({ kinds: ['house'] })).advance('1m');
    expect(house.attempts).toEqual(['surveyor 0s–3s', 'damage 3s–4s', 'settle 4s–5s']);
    const car = await (await start({ kinds: ['car', 'house'] })).advance('1m');
    expect(car.attempts).toEqual(['surveyor 0s–3s', 'garage 0s–5s', 'damage 5s–6s', 'expert 5s–7s', 'settle 7s–8s']);
    const person = await (await start({ kinds: ['person'] })).advance('1m');
    expect(person.attempts).toEqual(['doctor 0s–9s', 'settle 9s–10s']);
  },

  '38-general-synchronizing-merge.yaml': async (start) => {
    const loop = await (await start({ paint: false })).advance('1m');
    expect(loop.attempts.at(-1)).toBe('deliver 6s–7s');
    const both = await (await start({ paint: true })).advance('1m');
    expect(both.attempts.at(-1)).toBe('deliver 9s–10s');
  },

  '39-critical-section.yaml': async (start) => {
    const run = await (await start()).advance('1m');
    const regions = run.attempts.filter((attempt) => !attempt.startsWith('greet'));
    expect(regions).toHaveLength(6);
    expect(onlyOneAtATime(regions)).toBe(true);
    const names = regions.map((attempt) => attempt.split('/')[0]);
    expect(names.toSorted()).toEqual(names);
    expect(run.attempts).toContain('greet 0s–3s');
  },

  '40-interleaved-routing.yaml': async (start) => {
    const run = await (await start()).advance('1m');
    expect(run.attempts.map((attempt) => attempt.split(' ')[0]).toSorted()).toEqual([
      'ears',
      'eyes',
      'heart',
      'result',
    ]);
    expect(onlyOneAtATime(run.attempts)).toBe(true);
    expect(run.attempts.at(-1)).toBe('result 9s–9s');
  },

  '41-thread-merge.yaml': async (start) => {
    const run = await (await start()).advance('1m');
    expect(run.output).toBe('copy 1, copy 2, copy 3');
    expect(run.attempts.filter((attempt) => attempt.startsWith('bind'))).toEqual(['bind 3s–3s']);
  },

  '42-thread-split.yaml': runs([
    'call 0s–1s',
    'crews/0/drive 1s–3s',
    'crews/1/drive 1s–4s',
    'crews/0/help 3s–8s',
    'crews/1/help 4s–9s',
  ]),

  '43-explicit-termination.yaml': async (start) => {
    const run = await (await start()).advance('10m');
    expect(run.status).toBe('completed');
    expect(run.output).toEqual({ seenAt: 'entrance' });
    expect(run.attempts).toEqual(['entrance 0s–600s', 'garage 0s–600s cancelled']);
    expect(run.nodes.report).toBe('cancelled');
  },
};

function onlyOneAtATime(attempts: readonly string[]): boolean {
  const times = attempts.map((attempt) => /([\d.]+)s–([\d.]+)s/.exec(attempt)?.slice(1).map(Number) ?? []);
  return times.every(([from = 0], index) => index === 0 || from >= (times[index - 1]?.[1] ?? Number.NaN));
}

describe('patterns of control flow', () => {
  test.each(FILES)('%s', async (file) => {
    const show = SHOWS[file];
    if (show === undefined) throw new Error(`nobody says what ${file} shows`);
    await show((input) => PatternRun.start(file, input));
  });

  test('every example begins with the name and the number of its pattern', () => {
    for (const { number, name, example } of rows()) {
      if (!example.startsWith(`${number}`.padStart(2, '0'))) continue;
      const [first = ''] = readFileSync(path.join(PATTERNS_DIR, example), 'utf8').split('\n');
      expect(first).toContain(`# ${name} (pattern ${number}`);
    }
  });
});

describe('docs/patterns.md', () => {
  test('has all 43 patterns, each once, with a mark and a reason', () => {
    const all = rows();
    expect(all.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 43 }, (_, n) => n + 1),
    );
    for (const { mark, why } of all) {
      expect(['+', '±', '−']).toContain(mark);
      expect(why.length).toBeGreaterThan(20);
    }
  });

  test('counts them, and at least 34 can be expressed', () => {
    const count = (wanted: string) => rows().filter(({ mark }) => mark === wanted).length;
    expect(count('+') + count('±')).toBeGreaterThanOrEqual(34);
    for (const mark of ['+', '±', '−']) expect(DOCUMENT).toContain(`| \`${mark}\` | ${count(mark)} |`);
  });

  test('leads to an example of every +, and to every example', () => {
    for (const { number, mark, example } of rows()) {
      if (mark === '+') expect(example).toMatch(new RegExp(`^0?${number}-`));
      if (example !== '') expect(FILES).toContain(example);
    }
    expect(
      new Set(
        rows()
          .map(({ example }) => example)
          .filter(Boolean),
      ),
    ).toEqual(new Set(FILES));
    expect(FILES).toEqual(Object.keys(SHOWS));
  });
});

/** Rows of the tables in the document: `| 4 | Exclusive Choice | + | why | [example](../examples/patterns/04-….yaml) |`. */
function rows() {
  const lines = DOCUMENT.matchAll(
    /^\| (\d+) \| (.+?) \| `(.)` \| (.+) \| (?:\[.+\]\(\.\.\/examples\/patterns\/(.+)\))? ?\|$/gm,
  );
  return Array.from(lines, ([, number, name = '', mark = '', why = '', example = '']) => ({
    number: Number(number),
    name,
    mark,
    why,
    example,
  }));
}

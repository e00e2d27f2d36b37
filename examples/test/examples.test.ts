import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { ExampleProject, statuses } from './example-project.ts';

/** Every test has a copy of the examples of its own, so that all of them can run at once. */
const it = test.extend<{ project: ExampleProject; site: Site }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from it what the fixture needs
  project: async ({}, use) => {
    const project = new ExampleProject();
    await use(project);
    await project.remove();
  },
  // biome-ignore lint/correctness/noEmptyPattern: the same
  site: async ({}, use) => {
    const site = await openSite();
    await use(site);
    await site.close();
  },
});

interface Site {
  readonly url: string;
  readonly asked: string[];
  /** How often a path will answer 503. */
  readonly refusals: Map<string, number>;
  close(): Promise<void>;
}

async function openSite(): Promise<Site> {
  const refusals = new Map<string, number>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    const left = refusals.get(pathname) ?? 0;
    asked.push(request.url!);
    refusals.set(pathname, left - 1);
    response.writeHead(left > 0 ? 503 : 200, { 'content-type': 'application/json' });
    response.end('{"ok":true}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, refusals, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

describe.concurrent('examples', { timeout: 60_000 }, () => {
  it('every example is valid, without a warning', async ({ project }) => {
    const files = readdirSync(project.path('examples')).filter((name) => /^[^.]+\.yaml$/.test(name));
    expect(files.length).toBeGreaterThanOrEqual(8);
    const { code, stdout, stderr } = await project.nebula('validate', ...files.map((file) => `examples/${file}`));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n')).toHaveLength(files.length);
    expect(stdout).not.toContain('warning');
  });

  it('every example is in the table of examples/README.md', ({ project }) => {
    const table = project.read('README.md');
    for (const file of readdirSync(project.path('examples')).filter((name) => /^[^.]+\.yaml$/.test(name))) {
      expect(table).toContain(`](${file})`);
    }
  });

  describe('hello.yaml', () => {
    it('greets the world, or a given name', async ({ project }) => {
      const [world, ada] = await Promise.all([project.run('hello'), project.run('hello', '--set', 'name=Ada')]);
      expect(world.document.output).toEqual({ said: 'Hello, World!', shouted: 'HELLO, WORLD!' });
      expect(ada.document.output).toEqual({ said: 'Hello, Ada!', shouted: 'HELLO, ADA!' });
    });
  });

  describe('ci.yaml', () => {
    it('checks, tests, builds and writes the manifest, stage by stage', async ({ project }) => {
      const { code, document } = await project.run('ci');
      expect(code).toBe(0);
      expect(document.output).toEqual({
        version: '1.4.0',
        tests: 3,
        bytes: 318,
        manifest: 'examples/out/ci/manifest.json',
      });
      const manifest = JSON.parse(project.read('out/ci/manifest.json'));
      expect(manifest.files.map((file: { path: string }) => file.path)).toEqual([
        'package.json',
        'src/format.js',
        'src/total.js',
      ]);
    });

    it('a test that fails twice stops the pipeline before the build', async ({ project }) => {
      const file = project.path('examples/data/shop/src/total.js');
      const good = readFileSync(file, 'utf8');
      writeFileSync(file, good.replace('cents * quantity', 'cents + quantity'));
      const { code, document } = await project.run('ci');
      expect(code).toBe(1);
      expect(document.error).toMatchObject({ code: 'EXIT_1', node: 'unit' });
      expect(document.nodes.unit).toMatchObject({ attempts: 2 });
      expect(document.nodes.build).toMatchObject({ attempts: 0 });
    });

    it('a debugger left behind is found', async ({ project }) => {
      const file = project.path('examples/data/shop/src/format.js');
      const good = readFileSync(file, 'utf8');
      writeFileSync(file, `debugger;\n${good}`);
      const { document } = await project.run('ci');
      expect(document.error).toMatchObject({ node: 'leftovers', message: expect.stringContaining('debugger') });
    });
  });

  describe('release.yaml', () => {
    it('deploys after every check has passed, and stops the environment', async ({ project }) => {
      const { code, document } = await project.run('release');
      expect(code).toBe(0);
      expect(document.output).toEqual({ live: '1.4.0' });
      expect(JSON.parse(project.read('out/release/environment.json'))).toEqual({ state: 'down' });
    });

    it('deploys nothing after a failed test; the clean-up runs, and the run stays failed', async ({ project }) => {
      const { code, document } = await project.run('release', '--set', 'breaks=browser');
      expect(code).toBe(1);
      expect(document.error).toMatchObject({ node: 'browser' });
      expect(document.nodes.deploy).toMatchObject({ attempts: 0 });
      expect(statuses(document)).toMatchObject({ stop: 'completed', notify: 'completed' });
    });

    it('brings the old version back when the new one does not work', async ({ project }) => {
      const { document } = await project.run('release', '--set', 'breaks=smoke');
      expect(document.error).toMatchObject({ node: 'smoke' });
      expect(project.read('out/release/live.txt')).toBe('1.3.9');
    });
  });

  describe('etl.yaml', () => {
    it('imports the good rows, sets the bad ones aside and writes the report', async ({ project }) => {
      const { code, document } = await project.run('etl');
      expect(code).toBe(0);
      expect(document.output).toEqual({ rows: 22, setAside: 2, revenue: 3274, report: 'examples/out/etl/report.md' });
      expect(project.read('out/etl/report.md')).toContain('| AT | 6 | 1,168.50 |\n| DE | 5 | 946.00 |\n');
      expect(JSON.parse(project.read('out/etl/bad-rows.json')).map((row: { id: string }) => row.id)).toEqual([
        'S-3006',
        'S-3018',
      ]);
    });

    it('too many bad rows fail the run, and are still written for a person to look at', async ({ project }) => {
      const { code, document } = await project.run('etl', '--set', 'maxBadShare=0.05');
      expect(code).toBe(1);
      expect(document.error).toMatchObject({
        code: 'ASSERTION_FAILED',
        node: 'quality',
        message: '2 of 24 rows are bad: S-3006, S-3018',
      });
      expect(statuses(document)).toMatchObject({ quarantine: 'completed', report: 'skipped' });
    });

    it('the same id twice fails the run', async ({ project }) => {
      const rows = project.read('data/sales.csv');
      writeFileSync(project.path('examples/data/twice.csv'), rows + rows.split('\n')[1]);
      const { document } = await project.run('etl', '--set', 'file=examples/data/twice.csv');
      expect(document.error).toMatchObject({ node: 'ids', message: 'The file has rows with the same id' });
    });
  });

  describe('site-check.yaml', () => {
    const check = (project: ExampleProject, site: Site) => project.run('site-check', '--set', `baseUrl=${site.url}`);

    it('a site whose pages answer is up', async ({ project, site }) => {
      const { code, document } = await check(project, site);
      expect(code).toBe(0);
      expect(document.output).toEqual({
        up: true,
        degraded: false,
        pages: { home: 200, health: 200, search: 200 },
      });
      expect(site.asked.sort()).toEqual(['/', '/health', '/search?q=nebula']);
      expect(statuses(document)).toMatchObject({ degraded: 'skipped', down: 'skipped' });
    });

    it('a page that recovers is requested again', async ({ project, site }) => {
      site.refusals.set('/health', 1);
      const { document } = await check(project, site);
      expect(document.nodes.health).toMatchObject({ status: 'completed', attempts: 2 });
      expect(document.output).toMatchObject({ up: true, degraded: false });
    });

    it('one page that stays away degrades the site', async ({ project, site }) => {
      site.refusals.set('/search', 99);
      const { code, document } = await check(project, site);
      expect(code).toBe(0);
      expect(document.nodes.search).toMatchObject({ status: 'failed', attempts: 3 });
      expect(document.output).toMatchObject({ up: true, degraded: true, pages: { search: 'HTTP_503' } });
    });

    it('with two away the site is down, and the run fails', async ({ project, site }) => {
      site.refusals.set('/search', 99).set('/', 99);
      const { code, document } = await check(project, site);
      expect(code).toBe(1);
      expect(document.error).toMatchObject({ code: 'SITE_DOWN', node: 'down', message: `${site.url} is down` });
      expect(statuses(document)).toMatchObject({ up: 'skipped', degraded: 'completed', down: 'failed' });
    });

    it('an address with a slash at its end is refused before anything runs', async ({ project, site }) => {
      const dataDir = mkdtempSync(project.path('data-'));
      const args = ['--set', `baseUrl=${site.url}/`, '--data-dir', dataDir];
      const { code, stderr } = await project.nebula('run', 'examples/site-check.yaml', ...args);
      expect(code).toBe(2);
      expect(stderr).toContain('INPUT_INVALID');
      expect(stderr).toContain('baseUrl');
      expect(site.asked).toEqual([]);
    });
  });

  describe('backup.yaml', () => {
    const archives = (project: ExampleProject) => readdirSync(project.path('examples/out/backups')).sort();

    it('packs everything, and keeps the newest archives', async ({ project }) => {
      const names: string[] = [];
      for (let round = 0; round < 3; round++) {
        const { code, document } = await project.run('backup', '--set', 'keep=2');
        expect(code).toBe(0);
        const { archive, files, pruned } = document.output as { archive: string; files: number; pruned: string[] };
        expect(files).toBeGreaterThan(10);
        names.push(archive.split('/').at(-1)!);
        expect(pruned).toEqual(round < 2 ? [] : [names[0]]);
      }
      expect(archives(project)).toEqual(names.slice(1));
    });

    it('a folder that is not there fails the run, and nothing is pruned', async ({ project }) => {
      await project.run('backup');
      const before = archives(project);
      const { code, document } = await project.run('backup', '--set', 'folder=examples/nowhere', '--set', 'keep=1');
      expect(code).toBe(1);
      expect(document.error).toMatchObject({
        node: 'archive',
        details: { stderr: expect.stringContaining('nowhere') },
      });
      expect(document.nodes.prune).toMatchObject({ attempts: 0 });
      expect(before).toHaveLength(1);
      expect(archives(project)).toEqual(expect.arrayContaining(before));
    });
  });

  describe('incident.yaml', () => {
    const incident = (project: ExampleProject, service: string, errorRate: number) =>
      project.run('incident', '--set', `service=${service}`, '--set', `errorRate=${errorRate}`);

    it('critical: both are called, the first to answer leads, the public is told', async ({ project }) => {
      const { document } = await incident(project, 'checkout', 0.31);
      expect(document.output).toEqual({ severity: 'critical', commander: 'Alan', ticket: null, published: true });
      expect(statuses(document)).toMatchObject({ 'page-primary': 'completed', ticket: 'skipped', count: 'skipped' });
      expect(project.read('out/incidents/status.md')).toContain(
        'checkout fails for 31 % of requests. Alan leads the response.',
      );
      const record = JSON.parse(project.read('out/incidents', `${document.executionId}.json`));
      expect(record).toMatchObject({ severity: 'critical', commander: 'Alan' });
    });

    it('critical, but inside the house: nothing is published', async ({ project }) => {
      const { document } = await incident(project, 'payroll', 0.5);
      expect(document.output).toMatchObject({ severity: 'critical', published: false });
      expect(statuses(document)).toMatchObject({ 'status-page': 'skipped', record: 'completed' });
    });

    it('major: a ticket, and no phone rings', async ({ project }) => {
      const { document } = await incident(project, 'search', 0.1);
      expect(document.output).toMatchObject({ severity: 'major', ticket: 'examples/out/incidents/ticket-search.md' });
      expect(statuses(document)).toMatchObject({ 'page-primary': 'skipped', 'page-secondary': 'skipped' });
      expect(project.read('out/incidents/ticket-search.md')).toBe('search fails for 10 % of requests\n');
    });

    it('minor: it is only counted', async ({ project }) => {
      const { document } = await incident(project, 'search', 0.01);
      expect(document.output).toEqual({ severity: 'minor', commander: null, ticket: null, published: false });
      expect(statuses(document)).toMatchObject({ count: 'completed', record: 'completed', ticket: 'skipped' });
    });
  });

  describe('nightly-report.yaml', () => {
    it('reports every region, two at a time, and ranks them', async ({ project }) => {
      const { code, document } = await project.run('nightly-report');
      expect(code).toBe(0);
      expect(document.output).toEqual({
        month: '2025-03',
        ranking: ['south', 'east', 'west', 'north'],
        summary: 'examples/out/reports/2025-03/summary.md',
      });
      expect(project.read('out/reports/2025-03/north.md')).toContain(
        '33 orders, 1,982.37 EUR.\nBest day: Tuesday, 18 March.',
      );
      expect(project.read('out/reports/2025-03/summary.md')).toContain(
        '1. South: 3,749.85 EUR\n2. East: 3,311.18 EUR\n',
      );
      const starts = ['north', 'east', 'south', 'west'].map((region) => document.nodes[`${region}_report`]!.startedAt);
      expect(starts[0], 'the urgent region goes first').toBe(starts.toSorted()[0]);
    });

    it('a missing region holds up no other; once it is there, retry does only the rest', async ({ project }) => {
      const dataDir = mkdtempSync(project.path('data-'));
      const args = ['--json', '--data-dir', dataDir];
      const file = 'examples/nightly-report.yaml';
      const first = await project.nebula('run', file, '--set', 'month=2025-04', ...args);
      expect(first.code).toBe(1);
      const failed = JSON.parse(first.stdout);
      expect(failed.error).toMatchObject({ code: 'FILE_NOT_FOUND', node: 'east' });
      expect(statuses(failed)).toMatchObject({ west_report: 'completed', east_report: 'skipped', summary: 'skipped' });
      expect(existsSync(project.path('examples/out/reports/2025-04/west.md'))).toBe(true);

      const sales = project.path('examples/data/sales');
      copyFileSync(`${sales}/2025-03/east.json`, `${sales}/2025-04/east.json`);
      const second = await project.nebula('executions', 'retry', failed.executionId, ...args);
      expect(second.code).toBe(0);
      const done = JSON.parse(second.stdout);
      expect(statuses(done)).toMatchObject({ east_report: 'completed', summary: 'completed' });
      expect(done.nodes.west.startedAt, 'what had completed was not done again').toBe(failed.nodes.west.startedAt);
    });
  });
});

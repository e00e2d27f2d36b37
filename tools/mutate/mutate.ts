/**
 * `npm run mutate`: breaks the code on purpose, in a copy of the tree, and looks for a test that fails.
 *
 *   npm run mutate                              every named mutation
 *   npm run mutate -- ID…                       these only
 *   npm run mutate -- --list                    the named mutations, without running them
 *   npm run mutate -- --file core/src/run/undo  mutations of files whose path contains the text
 *   npm run mutate -- --sim --lives 300         mutations that the simulator is expected to kill, by it alone
 *   npm run mutate -- --random 50 --seed 7      mutations drawn from the sources
 *   npm run mutate -- --random 50 --near        the same, with the tests of the nearest folders only
 *
 * `--resume` keeps the results of an interrupted run and continues behind them. `--results FILE` has one line of JSON
 * for each result. Exits with 1 if a mutation survives, and with 2 if a mutation is stale or cannot be tried.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeCopy } from './copy.ts';
import { drawMutations } from './draw.ts';
import { type Mutation, staleIn } from './mutation.ts';
import { NAMED } from './named/index.ts';
import { type Result, Results, summaryOf } from './results.ts';
import { Trials } from './trial.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const RESULTS = path.join(ROOT, 'node_modules/.cache/nebula-mutate/results.jsonl');

interface Choice {
  readonly ids: readonly string[];
  readonly file: string | undefined;
  readonly isSim: boolean;
}

/** The named mutations that are meant; throws if an id is unknown or nothing is chosen. */
export function chosen(mutations: readonly Mutation[], { ids, file, isSim }: Choice): Mutation[] {
  for (const id of ids) {
    if (!mutations.some((one) => one.id === id)) throw new Error(`There is no mutation '${id}': see --list.`);
  }
  const found = mutations.filter(
    (one) =>
      (ids.length === 0 || ids.includes(one.id)) &&
      (file === undefined || one.file.includes(file)) &&
      (!isSim || ids.length > 0 || one.sim === true),
  );
  if (found.length === 0) throw new Error('No mutation is chosen: see --list.');
  return found;
}

/** A number of an option; throws if it is none. */
function count(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a number, not '${text}'.`);
  return Number(text);
}

function line({ id, verdict, ms }: Result, isKnown: boolean): string {
  const how = verdict.status === 'survived' ? 'SURVIVED' : `${verdict.status} by ${verdict.by}`;
  return `${id}: ${how} (${(ms / 1000).toFixed(1)} s${isKnown ? ', before' : ''})`;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      file: { type: 'string' },
      sim: { type: 'boolean', default: false },
      lives: { type: 'string', default: '300' },
      random: { type: 'string' },
      seed: { type: 'string', default: '1' },
      near: { type: 'boolean', default: false },
      resume: { type: 'boolean', default: false },
      results: { type: 'string', default: RESULTS },
    },
  });
  const { file, random } = values;
  const isDrawn = random !== undefined;
  if (values.near && !isDrawn) throw new Error('--near belongs to --random.');
  if (values.sim && isDrawn) throw new Error('--sim takes named mutations, not --random.');
  const mutations = isDrawn
    ? drawMutations(ROOT, count('random', random), count('seed', values.seed), file)
    : chosen(NAMED, { ids: positionals, file, isSim: values.sim });
  if (values.list) {
    for (const { id, file: name, breaks, sim } of mutations)
      console.log(`${id}  ${name}${sim === true ? '  (simulator)' : ''}\n  ${breaks}`);
    console.log(`${mutations.length} mutations`);
    return 0;
  }
  const stale = staleIn(ROOT, mutations);
  if (stale.length > 0) throw new Error(stale.join('\n'));
  using copy = makeCopy(ROOT);
  const trials = new Trials(copy, new Results(path.resolve(values.results), values.resume), {
    isDrawn,
    isNear: values.near,
    ...(values.sim ? { lives: count('lives', values.lives) } : {}),
  });
  await trials.begin(mutations);
  const results: Result[] = [];
  for (const mutation of mutations) {
    const { result, isKnown } = await trials.try(mutation);
    results.push(result);
    console.log(line(result, isKnown));
  }
  console.log(summaryOf(results));
  return results.some(({ verdict }) => verdict.status === 'survived') ? 1 : 0;
}

if (import.meta.main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 2;
  }
}

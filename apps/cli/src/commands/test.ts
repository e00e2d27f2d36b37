import { definedMembers } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import { print, writeLines } from '../print.ts';
import type { Command } from '../services.ts';
import { findTests } from '../testing/find.ts';
import { runYaml } from '../testing/run-yaml.ts';
import { coverageLines, type FileOutcome, fileLines, type TestOutcome, totalLine } from '../testing/view.ts';

export const execute: Command = async (call, args) => {
  const { io, options } = call;
  if (options.watch === true) {
    const { watchTests } = await import('../testing/watch.ts');
    return await watchTests(call, args);
  }
  if (options.againstRuns !== undefined) {
    const { testAgainstRuns } = await import('../testing/against-runs.ts');
    return await testAgainstRuns(call, args);
  }
  const { Coverage } = await import('@nebula/testing');
  const { yaml, code } = findTests(io.cwd, args);
  const coverage = new Coverage();
  const outcomes: FileOutcome[] = [];
  const view = { colors: io.out.colors, width: io.out.columns() };
  const tell = (outcome: FileOutcome): void => {
    outcomes.push(outcome);
    if (options.json !== true) writeLines(io.out, fileLines(outcome, view));
  };
  for (const file of yaml) tell(await runYaml(call, file, coverage));
  if (code.length > 0) {
    const { runCode } = await import('../testing/run-code.ts');
    for (const outcome of await runCode(io.cwd, code, coverage)) tell(outcome);
  }
  const exitCode = exitCodeOf(outcomes);
  const summary = coverage.summary();
  const document = { passed: exitCode === EXIT.completed, files: outcomes.map(fileDocument), coverage: summary };
  print(call, document, () => [totalLine(outcomes, view.colors), ...coverageLines(summary, view)]);
  return exitCode;
};

function exitCodeOf(outcomes: readonly FileOutcome[]): number {
  if (outcomes.some(({ broken }) => broken !== undefined)) return EXIT.invalid;
  return outcomes.every(({ tests }) => tests.every(({ passed }) => passed)) ? EXIT.completed : EXIT.failed;
}

function fileDocument({ file, tests, broken }: FileOutcome): Record<string, unknown> {
  return {
    file,
    ...(broken && { error: { code: broken.code, report: broken.report } }),
    tests: tests.map(testDocument),
  };
}

function testDocument({ name, passed, place, crashes, path, ...rest }: TestOutcome): Record<string, unknown> {
  const differences = rest.differences.map(({ what, expected, actual, note }) => {
    return { what, expected, actual, ...(note && { note }) };
  });
  const { failure } = rest;
  return {
    name,
    passed,
    ...definedMembers({ place, crashes }),
    ...(path.length > 0 && { path }),
    ...(differences.length > 0 && { differences }),
    ...(failure && { error: { code: failure.code, message: failure.message, hint: failure.hint } }),
  };
}

import { EXIT } from '../exit-code.ts';
import { writeLines } from '../report-runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { findTests } from '../testing/find.ts';
import type { FileOutcome, TestOutcome } from '../testing/outcome.ts';
import { runYaml } from '../testing/run-yaml.ts';
import { coverageLines, fileLines, totalLine } from '../testing/view.ts';
import { jsonDocument } from '../views/json.ts';

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  if (options.watch === true) {
    const { watchTests } = await import('../testing/watch.ts');
    return await watchTests(context, args, options);
  }
  const { Coverage } = await import('@nebula/testing');
  const { yaml, code } = findTests(io.cwd, args);
  const coverage = new Coverage();
  const outcomes: FileOutcome[] = [];
  const view = { colors: io.out.colors, width: io.out.columns() };
  const isForPrograms = options.json === true;
  const tell = (outcome: FileOutcome): void => {
    outcomes.push(outcome);
    if (!isForPrograms) writeLines(io.out, fileLines(outcome, view));
  };
  for (const file of yaml) tell(await runYaml(context, file, coverage));
  if (code.length > 0) {
    const { runCode } = await import('../testing/run-code.ts');
    for (const outcome of await runCode(io.cwd, code, coverage)) tell(outcome);
  }
  const exitCode = exitCodeOf(outcomes);
  const summary = coverage.summary();
  if (isForPrograms) {
    io.out.write(
      jsonDocument({ passed: exitCode === EXIT.completed, files: outcomes.map(fileDocument), coverage: summary }),
    );
  } else writeLines(io.out, [totalLine(outcomes, view.colors), ...coverageLines(summary, view)]);
  return exitCode;
}

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

function testDocument({
  name,
  passed,
  place,
  differences,
  failure,
  path,
  crashes,
}: TestOutcome): Record<string, unknown> {
  return {
    name,
    passed,
    ...(place !== undefined && { place }),
    ...(crashes !== undefined && { crashes }),
    ...(path.length > 0 && { path }),
    ...(differences.length > 0 && {
      differences: differences.map(({ what, expected, actual, note }) => ({
        what,
        expected,
        actual,
        ...(note && { note }),
      })),
    }),
    ...(failure && { error: { code: failure.code, message: failure.message, hint: failure.hint } }),
  };
}

/** Runs `*.test.yaml` in memory against the actions of the project, and compares the results. */
import path from 'node:path';
import { NebulaError, renderProblems, type SourceRange } from '@nebula/core';
import type { Coverage, TestResult } from '@nebula/testing';
import { readNamedFile } from '../named-file.ts';
import type { Context } from '../services.ts';
import { findOthers } from '../workflow-folder.ts';
import type { FileOutcome, TestOutcome } from './view.ts';

export async function runYaml(context: Context, file: string, coverage: Coverage): Promise<FileOutcome> {
  const { io, services } = context;
  const { readTestFile, runTestFile } = await import('@nebula/testing');
  const text = new TextDecoder().decode(await readNamedFile(io, file, 'a test file'));
  const read = readTestFile(text);
  if (read.file === undefined) {
    const report = renderProblems(read.problems, { file, text, color: io.out.colors.isColorSupported });
    return { file, tests: [], broken: { code: 'TEST_FILE_INVALID', report: report.trimEnd().split('\n') } };
  }
  const project = await services.openProject({ file });
  const { retryPolicies, capabilities, expressionLimits } = project.config;
  // A workflow in TypeScript is a module of the project.
  await import('./resolve-packages.ts');
  try {
    const results = await runTestFile(read.file, {
      dir: path.dirname(path.resolve(io.cwd, file)),
      projectDir: project.dir,
      actions: await services.actions(project),
      config: {
        ...(retryPolicies && { retryPolicies }),
        ...(capabilities && { capabilities }),
        ...(expressionLimits && { expressionLimits }),
      },
      coverage,
      others: async (source, definition) => {
        const { files } = await findOthers(context, source, definition, { project });
        return files.flatMap((other) => other.definition ?? []);
      },
    });
    return { file, tests: results.map((result) => outcomeOf(file, result)) };
  } catch (error) {
    if (!(error instanceof NebulaError)) throw error;
    const lines = [
      ...error.message.trimEnd().split('\n'),
      ...(error.hint === undefined ? [] : [`  hint: ${error.hint}`]),
    ];
    return { file, tests: [], broken: { code: error.code, report: lines } };
  }
}

function outcomeOf(file: string, result: TestResult): TestOutcome {
  const { name, passed, differences, failure, path: went, crashes } = result;
  const position = positionText(file, failure?.range ?? differences[0]?.range ?? result.range);
  return {
    name,
    passed,
    differences,
    path: went,
    ...(position !== undefined && { place: position }),
    ...(failure && { failure }),
    ...(crashes !== undefined && { crashes }),
  };
}

function positionText(file: string, range: SourceRange | undefined): string | undefined {
  return range === undefined ? undefined : `${file}:${range.line}:${range.column}`;
}

/** Does what a document says, from its first block to its last, and tells where it is wrong. */
import type { Action } from '@nebula/core';
import { type Fence, fencesIn } from './fences.ts';
import type { Playground } from './playground.ts';
import { problemsOf, snippetOf } from './snippets.ts';
import { commandsIn, firstDifference } from './transcript.ts';

export async function tryDocument(
  document: string,
  markdown: string,
  playground: Playground,
  ownActions: readonly Action[],
): Promise<void> {
  for (const fence of fencesIn(document, markdown)) {
    switch (fence.language) {
      case 'yaml':
        await tryYaml(fence, playground, ownActions);
        break;
      case 'ts':
        await tryTypeScript(fence, playground);
        break;
      case 'sh':
        await tryShell(fence, playground);
        break;
      case 'console':
        await tryConsole(fence, playground);
        break;
      case 'json':
        JSON.parse(fence.text);
        break;
    }
  }
}

async function tryYaml(fence: Fence, playground: Playground, ownActions: readonly Action[]): Promise<void> {
  const { source, isWhole } = snippetOf(fence.text);
  const file = fence.marks.get('file') ?? `snippet-${fence.line}.yaml`;
  // Tests are run by the commands that follow.
  if (file.endsWith('.test.yaml')) return playground.write(file, fence.text);
  playground.write(file, source);
  const isRun = isWhole && !fence.marks.has('invalid') && !fence.marks.has('unrun');
  if (isRun) await runWorkflow(fence, playground, file);
  else checkWorkflow(fence, source, ownActions);
}

/** Running checks the file, too: a warning would be told on stderr. */
async function runWorkflow(fence: Fence, playground: Playground, file: string): Promise<void> {
  const input = fence.marks.get('input') ?? '{}';
  const status = fence.marks.get('status') ?? 'completed';
  const { stdout, stderr } = await playground.nebula('run', file, '--input', input, '--json');
  if (stderr !== '' || (JSON.parse(stdout) as { status?: string }).status !== status)
    throw documentError(fence, `expected it to be ${status}:\n${stderr}${stdout}`);
}

function checkWorkflow(fence: Fence, source: string, ownActions: readonly Action[]): void {
  const { problems, report } = problemsOf(source, ownActions);
  const isInvalid = problems.some(({ severity }) => severity === 'error');
  if (fence.marks.has('invalid') !== isInvalid) throw documentError(fence, isInvalid ? report : 'it is valid');
  if (!isInvalid && problems.length > 0) throw documentError(fence, report);
}

async function tryTypeScript(fence: Fence, playground: Playground): Promise<void> {
  const file = fence.marks.get('file') ?? `snippet-${fence.line}.ts`;
  playground.write(file, fence.text);
  if (!fence.marks.has('run')) return;
  const { code, lines } = await playground.run(/\.test\.ts$/.test(file) ? `node --test '${file}'` : `node '${file}'`);
  if (code !== 0) throw documentError(fence, lines.join('\n'));
}

async function tryShell(fence: Fence, playground: Playground): Promise<void> {
  if (fence.marks.has('network')) return;
  const { code, lines } = await playground.run(fence.text);
  if (code !== exitCode(fence)) throw documentError(fence, `ended with ${code}:\n${lines.join('\n')}`);
}

async function tryConsole(fence: Fence, playground: Playground): Promise<void> {
  const commands = commandsIn(fence.text, fence.line + 1);
  for (const [index, command] of commands.entries()) {
    const { code, lines } = await playground.run(command.text);
    const expectedCode = index === commands.length - 1 ? exitCode(fence) : 0;
    if (code !== expectedCode) throw documentError(fence, `${command.text} ended with ${code}:\n${lines.join('\n')}`);
    const difference = firstDifference(command.expected, lines);
    if (difference !== null) {
      throw documentError(fence, `${command.text} did not print\n    ${difference}\nIt printed:\n${lines.join('\n')}`);
    }
  }
}

function exitCode(fence: Fence): number {
  return Number(fence.marks.get('exit') ?? 0);
}

function documentError(fence: Fence, what: string): Error {
  return new Error(`${fence.document}:${fence.line} ${what}`);
}

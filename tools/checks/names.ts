/**
 * Names of files and functions in the documents about the sources exist.
 *
 *  1 A file in backticks that begins with the name of a package is in the `src` of that package (`core/heap.ts`), or
 *    beside it (`core/test/run/drive.ts`).
 *  2 A block fenced as `walk` lists functions in the order of their calls: a file, its functions, a remark. Every
 *    function is declared in its file, and the line before the block has the right numbers of functions and files.
 */
import { functionName, isFunction } from './functions.ts';
import { type Code, type Repository, type Verdict, walk } from './repository.ts';

/** Guides name files of their readers. */
const ABOUT_SOURCES = /^(CONTRIBUTING|docs\/(ARCHITECTURE|GLOSSARY|simulation|decisions\/[^/]+))\.md$/;
const COUNTS = /(\d+) functions in (\d+) files/;

export function checkNames(repository: Repository): Verdict {
  const sources = sourcesOf(repository);
  const problems: string[] = [];
  let names = 0;
  for (const document of repository.files.filter((file) => ABOUT_SOURCES.test(file))) {
    const lines = repository.text(document).split('\n');
    for (const [index, line] of lines.entries()) {
      const say = (problem: string): number => problems.push(`${document}:${index + 1} ${problem}`);
      for (const [, name = ''] of line.matchAll(/`([a-z-]+\/[\w./-]+\.ts)`/g)) {
        const candidates = candidatesOf(name, sources);
        if (candidates.length === 0) continue;
        names += 1;
        if (!candidates.some(repository.has)) say(`${name} is not a file`);
      }
      if (line !== '```walk') continue;
      const steps = stepsFrom(lines, index + 1);
      for (const problem of problemsOf(steps, repository, sources)) say(problem);
      const functions = steps.flatMap((step) => step.functions).length;
      const count = `${functions} functions in ${new Set(steps.map(({ file }) => file)).size} files`;
      const before = lines.slice(0, index).findLast((text) => text !== '') ?? '';
      if (COUNTS.exec(before)?.[0] !== count) say(`the line before the walk must count ${count}`);
      names += functions;
    }
  }
  return { problems, summary: `${names} names` };
}

interface Step {
  readonly file: string;
  readonly functions: readonly string[];
}

/** Columns are two blanks apart. */
function stepsFrom(lines: readonly string[], first: number): Step[] {
  const end = lines.indexOf('```', first);
  return lines.slice(first, end).map((line) => {
    const [file = '', functions = ''] = line.trim().split(/ {2,}/);
    return { file, functions: functions.split(/ ─▶ |, /) };
  });
}

function problemsOf(steps: readonly Step[], repository: Repository, sources: Sources): string[] {
  return steps.flatMap((step) => {
    const file = candidatesOf(step.file, sources).find(repository.has);
    if (file === undefined) return [`${step.file} is not a file`];
    const declared = functionsIn(repository.code(file));
    return step.functions.filter((name) => !declared.has(name)).map((name) => `${step.file} has no function ${name}`);
  });
}

/** Packages by the last part of their folder. */
type Sources = ReadonlyMap<string, string>;

function sourcesOf(repository: Repository): Sources {
  const manifests = repository.files.map((file) => /^((?:packages|apps)\/([^/]+))\/package\.json$/.exec(file));
  return new Map(manifests.flatMap((found) => (found === null ? [] : [[found[2] ?? '', found[1] ?? '']])));
}

/** Empty if the name does not begin with a package. */
function candidatesOf(name: string, sources: Sources): readonly string[] {
  const [first = '', ...rest] = name.split('/');
  const folder = sources.get(first);
  return folder === undefined ? [] : [`${folder}/src/${rest.join('/')}`, `${folder}/${rest.join('/')}`];
}

/** Functions, methods, and the methods of interfaces. */
function functionsIn({ program }: Code): ReadonlySet<string | undefined> {
  const names = new Set<string | undefined>();
  walk(program, (node, parents) => {
    if (isFunction(node)) names.add(functionName(node, parents));
    if (node.type === 'TSMethodSignature' && node.key.type === 'Identifier') names.add(node.key.name);
  });
  return names;
}

/** Small habits: names that say something, no leftovers, nothing that only works on one machine. */
import { functionName, isFunction } from './functions.ts';
import { at, type Code, isCode, isConformance, isTest, type Repository, type Verdict, walk } from './repository.ts';
import { testCallsOf } from './titles.ts';

const FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 70;
/** In the comment that opens a file: `Long because …` says why it is. */
const LONG_ON_PURPOSE = /\bLong because\b/;

const EMPTY_NAMES =
  /(^|[-_.])([Uu]tils?|[Hh]elpers?|[Mm]anagers?)$|[a-z](Utils?|Helpers?|Managers?)$|^([Cc]ommon|[Tt]ypes|[Ii]nterfaces)$/;
const LEFTOVER = /\b(TODO|FIXME|XXX)\b/;
const MACHINE_PATH = /(?<![\w.~/*}-])\/(work|root|Users)\/[\w.-]/;
const TEXT_FILE =
  /\.(ts|tsx|mts|js|jsx|mjs|json|jsonc|ya?ml|md|sh|css|html|sql|toml)$|(^|\/)(\.ci\/|Dockerfile)|(^|\/)\.[a-z]+rc$/;
const DISABLING = ['only', 'skip', 'todo'];
const CONDITIONAL = ['skipIf', 'runIf'];

export function checkTidiness(repository: Repository): Verdict {
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const file of repository.files) {
    problems.push(...findEmptyNames(file));
    if (TEXT_FILE.test(file)) problems.push(...findMachinePaths(file, repository.text(file)));
    if (/\.(md|ya?ml|sh)$/.test(file)) problems.push(...findLeftovers(file, repository.text(file)));
    if (!isCode(file)) continue;
    const code = repository.code(file);
    problems.push(...findLeftoverComments(code), ...findStarExports(code));
    if (isTest(file) || isConformance(file)) problems.push(...findDisabledTests(code));
    else warnings.push(...findLongCode(code));
  }
  for (const file of repository.files.filter((name) => /(^|\/)package-lock\.json$/.test(name))) {
    problems.push(...findHosts(file, repository.text(file)));
  }
  return { problems, warnings, summary: `${repository.files.length} files` };
}

function findEmptyNames(file: string): string[] {
  const parts = file.split('/');
  const stem = parts.at(-1)!.replace(/(?<=.)\..*$/, '');
  const empty = [...parts.slice(0, -1), stem].find((name) => EMPTY_NAMES.test(name));
  return empty === undefined ? [] : [`${file} "${empty}" does not say what is inside`];
}

function findMachinePaths(file: string, text: string): string[] {
  return linesWith(text, MACHINE_PATH).map(([line, found]) => `${file}:${line} ${found}… exists on one machine only`);
}

function findLeftovers(file: string, text: string): string[] {
  return linesWith(text, LEFTOVER).map(([line, found]) => `${file}:${line} ${found} left behind`);
}

function findLeftoverComments(code: Code): string[] {
  return code.comments.flatMap((comment) => {
    const found = LEFTOVER.exec(comment.value);
    return found === null ? [] : [at(code, comment.start + found.index, `${found[1]} left behind`)];
  });
}

function findStarExports(code: Code): string[] {
  return code.program.body
    .filter((statement) => statement.type === 'ExportAllDeclaration')
    .map((statement) => at(code, statement.start, 'export * hides what a file offers: name the exports'));
}

function findDisabledTests(code: Code): string[] {
  const explained = new Set<number>();
  for (const comment of code.comments) {
    const first = code.line(comment.start);
    const last = code.line(comment.end);
    for (let line = first; line <= last + 1; line += 1) explained.add(line);
  }
  return testCallsOf(code).flatMap(({ offset, chain, options }) => {
    const disabling = [...chain.slice(1), ...options].find((name) => DISABLING.includes(name));
    if (disabling !== undefined) return [at(code, offset, `${chain[0]} is held back by ${disabling}`)];
    const condition = chain.find((name) => CONDITIONAL.includes(name));
    if (condition === undefined || explained.has(code.line(offset))) return [];
    return [at(code, offset, `${condition} needs a comment that says why`)];
  });
}

function findLongCode(code: Code): string[] {
  const firstStatement = code.program.body[0]?.start ?? code.text.length;
  if (code.comments.some((comment) => comment.start < firstStatement && LONG_ON_PURPOSE.test(comment.value))) return [];
  const found: string[] = [];
  const lines = code.line(code.text.trimEnd().length);
  if (lines > FILE_LINES_MAX) found.push(`${code.path} has ${lines} lines`);
  walk(code.program, (node, parents) => {
    if (!isFunction(node) || node.body === null) return;
    const length = code.line(node.end) - code.line(node.start) + 1;
    if (length > FUNCTION_LINES_MAX)
      found.push(at(code, node.start, `${functionName(node, parents) ?? 'a function'} has ${length} lines`));
  });
  return found;
}

/** The lock file must install from whatever registry people use. */
function findHosts(file: string, lock: string): string[] {
  const found = [
    ...linesWith(lock, /"resolved": "(?:git\+)?(?:https?|ssh):/),
    ...linesWith(lock, /\bregistry\.[\w-]+\.\w+/),
  ];
  return found.map(([line]) => `${file}:${line} names the host it was installed from`);
}

function linesWith(text: string, pattern: RegExp): [line: number, found: string][] {
  if (!pattern.test(text)) return [];
  return text.split('\n').flatMap((line, index) => {
    const found = pattern.exec(line);
    return found === null ? [] : [[index + 1, found[0]] as [number, string]];
  });
}

/**
 * Fenced code in the documentation, with what its opening line says about it.
 *
 *     ```yaml file=hello.yaml status=failed
 *
 * GitHub shows the first word only, so the rest is for the tests. A word that no test knows is an error: a misspelt
 * mark must not take a snippet out of the tests without anyone noticing.
 */

export interface Fence {
  /** Path of the document, from the root of the repository. */
  readonly document: string;
  /** The line number of the opening line, from 1. */
  readonly line: number;
  readonly language: string;
  readonly marks: ReadonlyMap<string, string>;
  readonly text: string;
}

/** The words allowed after each language. */
const MARKS: Readonly<Record<string, readonly string[]>> = {
  /**
   * Validated; a whole workflow is also run, to the status given or `completed`.
   * `file` keeps it for later blocks, `invalid` must be refused, `unrun` is not run, `input` is JSON without blanks.
   */
  yaml: ['file', 'status', 'invalid', 'unrun', 'input'],
  /** Type-checked; `run` runs it, too. */
  ts: ['file', 'run'],
  /** Run, line by line; ends with 0 unless `exit` says otherwise. `network` needs the internet and is not run. */
  sh: ['exit', 'network'],
  /** Commands after `$ ` are run, and what they print is compared. */
  console: ['exit'],
  /** Opened in a browser by the tests of the canvas. */
  html: [],
  tsx: [],
  js: [],
  json: [],
  text: [],
};

export function fencesIn(document: string, markdown: string): Fence[] {
  const fences: Fence[] = [];
  let open: { line: number; fence: string; info: string; text: string[] } | undefined;
  for (const [index, content] of markdown.split('\n').entries()) {
    const mark = /^(`{3,}|~{3,})(.*)$/.exec(content);
    if (open === undefined) {
      if (mark) open = { line: index + 1, fence: mark[1]!, info: mark[2]!.trim(), text: [] };
    } else if (mark && mark[1]!.startsWith(open.fence) && mark[2]!.trim() === '') {
      fences.push(fenceOf(document, open.line, open.info, open.text.join('\n')));
      open = undefined;
    } else {
      open.text.push(content);
    }
  }
  if (open !== undefined) throw new Error(`${document}:${open.line} the fence is never closed`);
  return fences;
}

function fenceOf(document: string, line: number, info: string, text: string): Fence {
  const [language = '', ...words] = info.split(/\s+/);
  const known = MARKS[language];
  if (known === undefined) {
    throw new Error(`${document}:${line} "${language}" is no language of the documentation: ${Object.keys(MARKS)}`);
  }
  const marks = new Map<string, string>();
  for (const word of words) {
    const [name = '', ...value] = word.split('=');
    if (!known.includes(name)) throw new Error(`${document}:${line} ${language} has no mark "${name}"`);
    marks.set(name, value.join('='));
  }
  return { document, line, language, marks, text };
}

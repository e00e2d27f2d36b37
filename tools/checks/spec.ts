/** Every rule of behaviour has a test that names it, and every name in a test's title is a rule. */
import { linesOutsideFences } from './markdown.ts';
import { at, isConformance, isTest, type Repository, type Verdict } from './repository.ts';
import { testCallsOf } from './titles.ts';

const SPEC_FILE = /^(packages|apps|sim|e2e|tools)\/(.*\/)?(SPEC\.md|spec\/[^/]+\.md|spec-[^/]+\.md)$/;
const RULE = /^- \*\*([A-Z][A-Z0-9]*-\d+)\*\* \S/;
/** Looks like a rule; when it is not written like one, it would silently not count. */
const ALMOST_RULE = /^\s*([-*+]|\d+\.|#+|\|)?\s*\*\*`?\[?[A-Z][A-Z0-9]*-\d+/;
const NAMED_IN_TITLE = /\[([A-Z][A-Z0-9]*-\d+(?:\s*,\s*[A-Z][A-Z0-9]*-\d+)*)\]/g;

export function checkSpec(repository: Repository): Verdict {
  const problems: string[] = [];
  const rules = new Map<string, string>();
  for (const file of repository.files.filter((name) => SPEC_FILE.test(name))) {
    for (const [line, content] of linesOutsideFences(repository.text(file))) {
      const position = `${file}:${line}`;
      const id = RULE.exec(content)?.[1];
      if (id === undefined) {
        if (ALMOST_RULE.test(content)) problems.push(`${position} write a rule as "- **ABC-1** text"`);
      } else if (rules.has(id)) {
        problems.push(`${position} ${id} is already at ${rules.get(id)}`);
      } else {
        rules.set(id, position);
      }
    }
  }
  const tested = new Set<string>();
  for (const file of repository.files.filter((name) => isTest(name) || isConformance(name))) {
    const code = repository.code(file);
    for (const call of testCallsOf(code)) {
      for (const id of idsIn(call.title)) {
        tested.add(id);
        if (!rules.has(id)) problems.push(at(code, call.offset, `[${id}] is no rule of any SPEC`));
      }
    }
  }
  for (const [id, position] of rules) if (!tested.has(id)) problems.push(`${position} ${id} has no test`);
  return { problems, summary: `${rules.size} rules` };
}

function idsIn(title: string): string[] {
  return [...title.matchAll(NAMED_IN_TITLE)].flatMap((match) => match[1]!.split(/\s*,\s*/));
}

import { describe, expect, it } from 'vitest';
import { renderProblems } from '../../src/definition/report.ts';
import type { Problem } from '../../src/problem.ts';
import { yaml } from './reading.ts';

function report(text: string, options: { limit?: number; color?: boolean } = {}): string {
  const { problems, source } = yaml(text);
  return renderProblems(problems, { file: 'order.yaml', text: source.text, ...options });
}

describe('reports', () => {
  it('[DEF-80] show place, severity, code, message, source and hint', () => {
    const text = 'id: x\nnodes:\n  fetch:\n    action: http.request@1\n    retires: 3\n    retry: { delay: 1s }\n';
    expect(report(text)).toBe(`order.yaml:5:5  error UNKNOWN_KEY  unknown key 'retires' in a node

  4 │     action: http.request@1
  5 │     retires: 3
    │     ^^^^^^^
  hint: did you mean 'retry'?

order.yaml:6:5  warning RETRY_WITHOUT_ATTEMPTS  without 'attempts' no error is retried

  5 │     retires: 3
  6 │     retry: { delay: 1s }
    │     ^^^^^
  hint: add e.g. attempts: 3, which includes the first attempt

1 error and 1 warning
`);
  });

  it('[DEF-80] colours are ANSI or of a given style', () => {
    expect(report('id: x\nfoo: 1\n', { color: true })).toContain('\u001b[31;1merror\u001b[0m');
    const tag = (name: string) => (text: string) => `<${name}>${text}</${name}>`;
    const style = {
      location: tag('p'),
      error: tag('e'),
      warning: tag('w'),
      code: tag('c'),
      message: tag('m'),
      gutter: tag('g'),
      hint: tag('h'),
    };
    const { problems } = yaml('id: x y\nnodes: {a: {action: b}}\n');
    expect(renderProblems(problems, { color: style })).toBe(
      "<p>1:5</p>  <e>error</e> <c>BAD_ID</c>  <m>'x y' is not an id</m>\n  <h>hint:</h> an id has letters, digits, '_' and '-' only, e.g. 'x-y'\n\n<e>1 error</e>\n",
    );
  });

  it('[DEF-80] a problem without a position shows its path', () => {
    const problem: Problem = { severity: 'error', code: 'X', message: 'm', path: ['nodes', 'a'] };
    expect(renderProblems([problem], { file: 'f' })).toBe('f: nodes.a  error X  m\n\n1 error\n');
    expect(renderProblems([])).toBe('');
  });

  it('[DEF-80] several lines are underlined in the first', () => {
    expect(report('id: x\nname:\n  - a\n  - b\nnodes: {a: {action: b}}\n')).toContain('  2 │ name:\n    │ ^^^^\n');
  });

  /** The text above the carets. */
  function marked(output: string): string {
    const lines = output.split('\n');
    const at = lines.findIndex((line) => /│ +\^+$/.test(line) || /│ \^+$/.test(line));
    const caret = lines[at] as string;
    const from = caret.indexOf('^');
    return (lines[at - 1] as string).slice(from, from + (caret.match(/\^/g) ?? []).length);
  }

  it('[DEF-81] tabs and control characters keep the underline in place', () => {
    const output = report(
      'id: x\nname:\t"\u001b[31m" # \u0007\nnodes: { "a b": {action: c} }\n'.replace('name:\t', 'description: \t'),
    );
    expect(output).not.toContain('\u001b');
    expect(marked(report('id: x\nnodes: {\t"a b": {action: c} }\n'))).toBe('"a b"');
    expect(marked(report('id: x\nnodes: { "\u001b": {action: c} }\n'))).toBe('"␛"');
  });

  it('[DEF-81] wide characters count twice, marks not at all', () => {
    const wide = report('id: x\nnodes: { a: {action: b, notes: "你好", foo: 1} }\n');
    // Two wide characters before the key: two columns more than characters.
    const [line = '', caret = ''] = wide.split('\n').slice(3, 5);
    expect(caret.indexOf('^')).toBe(line.indexOf('foo') + 2);
    const family = report('id: x\nnodes: { a: {action: b, notes: "👩‍👩‍👧e\u0301", foo: 1} }\n');
    const [familyLine = '', familyCaret = ''] = family.split('\n').slice(3, 5);
    expect(familyCaret.indexOf('^')).toBe(familyLine.indexOf('foo') - '👩‍👩‍👧'.length + 2 - 1);
  });

  it('[DEF-81] messages cannot write to the terminal either', () => {
    const output = report('id: "\\e[2J\\u202e"\nnodes: {a: {action: b}}\n');
    expect(output).not.toContain('\u001b');
    expect(output).not.toContain('\u202e');
  });

  it('[DEF-82] a long line is cut around the underline', () => {
    const text = `id: x\nnodes: { a: {action: b, notes: "${'x'.repeat(5_000)}", foo: 1, name: "${'y'.repeat(5_000)}"} }\n`;
    const output = report(text);
    for (const line of output.split('\n').filter((row) => row.includes('│'))) expect(line.length).toBeLessThan(130);
    expect(marked(output)).toBe('foo');
    expect(output).toMatch(/│ …x+", foo: 1, name: "y+…/);
  });

  it('[DEF-83] only so many problems are shown', () => {
    const keys = Array.from({ length: 32 }, (_, n) => `k${n}: 1\n`).join('');
    const output = report(`id: x\n${keys}`);
    expect(output.match(/UNKNOWN_KEY/g)).toHaveLength(19);
    expect(output).toContain('… and 13 more\n\n32 errors and 1 warning\n');
    expect(report(`id: x\n${keys}`, { limit: 2 })).toContain('… and 31 more');
  });
});

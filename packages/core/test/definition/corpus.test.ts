import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findJsonError } from '../../src/definition/json/syntax.ts';
import { renderProblems } from '../../src/definition/report.ts';
import { cpuMs, find, json, read, yaml } from './reading.ts';

const CORPUS = fileURLToPath(new URL('../../../../../shared/corpora/bad-input', import.meta.url));
const here = existsSync(CORPUS);
const files = here ? readdirSync(join(CORPUS, 'json')).sort() : [];

// The corpus lies beside the repository and is not part of it.
describe.skipIf(!here)('the bad-input corpus (../shared/corpora/bad-input)', () => {
  it.each(files)('[DEF-33] json/%s gives problems in under a second, as JSON and as YAML', (name) => {
    const bytes = readFileSync(join(CORPUS, 'json', name));
    for (const file of [name, name.replace('.json', '.yaml'), undefined]) {
      const started = cpuMs();
      const result = read(bytes, file === undefined ? {} : { file });
      expect(cpuMs() - started).toBeLessThan(1_000);
      // None of these is a workflow, so each must have an error, with a place.
      const error = result.problems.find(({ severity }) => severity === 'error');
      expect(error?.range).toBeDefined();
      expect(result.definition).toBeUndefined();
      expect(renderProblems(result.problems, { file: name, text: result.source.text })).not.toBe('');
    }
  });

  it.each(files.filter((name) => /^[yn]_/.test(name)))(
    '[DEF-16] json/%s is JSON exactly when JSON.parse takes it',
    (name) => {
      const result = json(readFileSync(join(CORPUS, 'json', name)));
      const syntax = result.problems.filter(({ code }) =>
        /^(?:JSON_SYNTAX|NOT_UTF8|BINARY_FILE|EMPTY_FILE|TOO_DEEP)$/.test(code),
      );
      expect(syntax.length > 0).toBe(name.startsWith('n_'));
    },
  );

  it('[DEF-33] naughty strings are kept as they are, or refused with a reason', () => {
    const naughty = JSON.parse(readFileSync(join(CORPUS, 'blns.json'), 'utf8')) as string[];
    const nodes = { a: { action: 'core.log' } };
    for (const text of naughty) {
      const source = JSON.stringify({ id: 'x', name: text, output: { [text]: text }, nodes });
      const result = json(source);
      if (text.isWellFormed() && text !== '__proto__')
        expect(result.definition).toMatchObject({ name: text, output: { [text]: text } });
      else expect(result.problems.length).toBeGreaterThan(0);
      const asId = json(JSON.stringify({ id: text, nodes }));
      if (/^[a-zA-Z0-9_-]+$/.test(text)) expect(asId.problems).toEqual([]);
      else expect(find(asId, 'BAD_ID').hint).toBeDefined();
      // Must not throw, whatever it is.
      yaml(text);
      yaml(`id: x\noutput: ${text}\n`);
    }
  });
});

describe('JSON errors', () => {
  it.each([
    ['{"a": 1,}', '1:8', "trailing comma before '}'"],
    ['[1, 2,]', '1:6', "trailing comma before ']'"],
    ['{"a" 1}', '1:6', "expected ':' after the key, found '1'"],
    ['{"a": 1 "b": 2}', '1:9', "expected ',' or '}', found '\"'"],
    ['{a: 1}', '1:2', 'the key a must be in double quotes'],
    ["{'a': 1}", '1:2', 'strings are written in double quotes'],
    ['{"a": tru}', '1:7', 'tru is not a JSON value'],
    ['{"a": None}', '1:7', 'None is not a JSON value'],
    ['{"a": NaN}', '1:7', 'NaN is not a JSON value'],
    ['{"a": 01}', '1:7', '01 is not a JSON number'],
    ['{"a": .5}', '1:7', '.5 is not a JSON number'],
    ['{"a": "x\ny"}', '1:7', 'the string is not closed on its line'],
    ['{"a": "x\ty"}', '1:9', 'U+0009 must be escaped in a string'],
    ['{"a": "\\x"}', '1:8', '\\x is not an escape in JSON'],
    ['{"a": "\\u12"}', '1:8', '\\u needs four hexadecimal digits'],
    ['{"a": 1} // x', '1:10', 'there is text after the end of the JSON value'],
    ['{ // x\n}', '1:3', 'JSON has no comments'],
    ['{"a": [1,\n2', '2:2', 'the file ends inside the list that begins in line 1'],
    ['{"a":\u00a01}', '1:6', 'U+00A0 is not white space in JSON'],
    ['{"a": ', '1:7', 'the file ends inside the object that begins in line 1'],
  ])('[DEF-16] %j', (text, place, message) => {
    const problem = find(json(text), 'JSON_SYNTAX');
    expect(`${problem.range?.line}:${problem.range?.column}`).toBe(place);
    expect(problem.message).toBe(message);
    expect(problem.hint).toBeTruthy();
  });

  it('[DEF-16] text without a mistake has none', () => {
    expect(findJsonError('{"a": [1, -2.5e+3, "\\u00e9\\n", true, false, null, {}, []]}')).toBeUndefined();
  });
});

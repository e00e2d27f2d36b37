import { describe, expect, it } from 'vitest';
import { repositoryOf } from '../checks/repository.ts';
import { checkSpec } from '../checks/spec.ts';

const SPEC = 'packages/core/SPEC.md';
const TEST = 'packages/core/test/a.test.ts';
// Ids in the titles of this file would be taken for rules, so the fixtures put them together.
const tag = (...ids: string[]) => `[${ids.join(', ')}]`;

describe('rules and tests', () => {
  it.each([
    `it('${tag('RUN-1')} starts', () => {});`,
    `test.each([1])('${tag('RUN-1')} starts %i', () => {});`,
    `it.each\`a\`('${tag('RUN-1')} starts', () => {});`,
    `it.skipIf(slow)('${tag('RUN-1')} starts', () => {});`,
    `describe('starting ${tag('RUN-1')}', () => {});`,
    `it(\`starts \${name} ${tag('RUN-1')}\`, () => {});`,
    `it('starts ' + name + ' ${tag('RUN-1')}', () => {});`,
  ])('finds the test in %s', (text) => {
    expect(checkSpec(repositoryOf({ [SPEC]: '- **RUN-1** starts.', [TEST]: text }))).toEqual({
      problems: [],
      summary: '1 rules',
    });
  });

  it.each([
    `it('starts RUN-1', () => {});`,
    `// it('${tag('RUN-1')} starts', () => {});`,
    `expect('${tag('RUN-1')}').toBe(1);`,
    `it('starts', () => { log('${tag('RUN-1')}'); });`,
  ])('does not take %s for a test', (text) => {
    const { problems } = checkSpec(repositoryOf({ [SPEC]: '- **RUN-1** starts.', [TEST]: text }));
    expect(problems).toEqual([`${SPEC}:1 RUN-1 has no test`]);
  });

  it('takes several ids in one title, and the suites of the ports', () => {
    const { problems } = checkSpec(
      repositoryOf({
        'packages/core/spec/run.md': '- **RUN-1** a.\n- **RUN-2** b.',
        'apps/cli/spec-words.md': '- **CLI-1** c.',
        'packages/ports/SPEC.md': '- **STORE-1** d.',
        [TEST]: `it('${tag('RUN-1', 'RUN-2')}${tag('CLI-1')} works', () => {});`,
        'packages/ports/conformance/store.ts': `it('${tag('STORE-1')} appends', () => {});`,
      }),
    );
    expect(problems).toEqual([]);
  });

  it('refuses an id in a title that is no rule', () => {
    const { problems } = checkSpec(repositoryOf({ [TEST]: `\nit('${tag('RUN-9')} ends', () => {});` }));
    expect(problems).toEqual([`${TEST}:2 [RUN-9] is no rule of any SPEC`]);
  });

  it('refuses the same id twice, also in two files', () => {
    const { problems } = checkSpec(
      repositoryOf({
        [SPEC]: '- **RUN-1** a.',
        'packages/engine/SPEC.md': '- **RUN-1** b.',
        [TEST]: `it('${tag('RUN-1')}', () => {});`,
      }),
    );
    expect(problems).toEqual([`packages/engine/SPEC.md:1 RUN-1 is already at ${SPEC}:1`]);
  });

  it.each(['* **RUN-1** a', '- **RUN-1**', '- **RUN-1:** a', '  - **RUN-1** a', '**RUN-1** a', '1. **RUN-1** a'])(
    'refuses a rule written as %s, which would not count',
    (line) => {
      expect(checkSpec(repositoryOf({ [SPEC]: line })).problems).toHaveLength(1);
    },
  );

  it('leaves code blocks and other documents alone', () => {
    const files = {
      [SPEC]: '```\n- **RUN-1** a\n```',
      'docs/SPEC.md': '- **RUN-2** b',
      'packages/core/README.md': '- **RUN-3** c',
    };
    expect(checkSpec(repositoryOf(files)).problems).toEqual([]);
  });
});

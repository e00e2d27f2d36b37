import { describe, expect, it } from 'vitest';
import { errorPlace, errorProblem, readDefinition } from '../../src/index.ts';

const text = [
  'id: broken',
  'nodes:',
  '  charge:',
  '    action: core.set@1',
  '    with:',
  '      - { value: "a {{ $input.x + 1 }}" }',
  '',
].join('\n');
const { source } = readDefinition(text, { file: 'broken.yaml' });
const at = { workflowId: 'broken', path: ['nodes', 'charge', 'with', 0, 'value'], offset: 5, length: 8 };
const error = {
  code: 'EXPRESSION_TYPE',
  kind: 'USER',
  message: 'with: no',
  node: 'charge',
  details: { hint: 'h', at },
} as const;

describe('[DEF-133] the place of an error', () => {
  it('is a problem of the source', () => {
    expect(errorPlace(error)).toEqual(at);
    const problem = errorProblem(error, source);
    expect(problem).toMatchObject({ code: 'EXPRESSION_TYPE', message: 'with: no', hint: 'h' });
    const { offset = 0, length = 0, line } = problem?.range ?? {};
    expect([text.slice(offset, offset + length), line]).toEqual(['$input.x', 6]);
  });

  it('is the whole value if no part of it is named', () => {
    const { offset: _, length: __, ...whole } = at;
    const problem = errorProblem({ ...error, details: { at: whole } }, source);
    const { offset = 0, length = 0 } = problem?.range ?? {};
    expect(text.slice(offset, offset + length)).toBe('"a {{ $input.x + 1 }}"');
  });

  it('is unknown for any other error', () => {
    const others = [
      undefined,
      null,
      'text',
      {},
      { at: null },
      { at: { ...at, path: 'nodes' } },
      { at: { ...at, path: [{}] } },
      { at: { ...at, offset: '5' } },
    ];
    for (const details of others) {
      const { details: _, ...rest } = error;
      const one = details === undefined ? rest : { ...rest, details };
      expect(errorPlace(one), JSON.stringify(details)).toBeUndefined();
      expect(errorProblem(one, source)).toBeUndefined();
    }
    const nowhere = readDefinition('id: other', {}).source;
    expect(
      errorProblem({ ...error, details: { at: { ...at, path: ['nowhere', 'at', 'all'] } } }, nowhere)?.range?.line ?? 1,
    ).toBe(1);
  });
});

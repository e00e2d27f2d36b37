import { defineAction } from '@nebula/sdk';

/** Without `with`, the input is null or an empty object; both result in the output null. */
export const coreNoop = defineAction({
  id: 'core.noop',
  version: '1',
  title: 'Do nothing',
  description:
    'Does nothing. Its output is its input, or null when there is none. Useful for joining branches and for tests.',
  category: 'flow',
  icon: 'circle-dot',
  examples: [{ title: 'Give a value on', with: { greeting: 'hello' } }],
  input: { title: 'Input', description: 'Anything; it becomes the output.', examples: [{ greeting: 'hello' }] },
  output: { title: 'Output', description: 'The input, or null.' },
  effect: 'pure',
  run: (_, input) => (isEmpty(input) ? null : input),
});

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value === null;
  for (const _ in value) return false;
  return true;
}

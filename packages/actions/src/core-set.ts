import { defineAction } from '@nebula/sdk';

export const coreSet = defineAction({
  id: 'core.set',
  version: '1',
  title: 'Set a value',
  description: 'Returns `value` as its output, so that later nodes can read a value that was computed once.',
  category: 'data',
  icon: 'variable',
  examples: [{ title: 'Compute a total once', with: { value: { total: '{{ $input.price * $input.count }}' } } }],
  input: {
    type: 'object',
    properties: {
      value: { title: 'Value', description: 'Anything, with expressions at any depth.', examples: [{ total: 3 }] },
    },
    required: ['value'],
    additionalProperties: false,
  },
  output: { title: 'Value', description: 'The value.' },
  effect: 'pure',
  run: (_, { value }) => value,
});

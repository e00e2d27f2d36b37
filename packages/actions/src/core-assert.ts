import { ActionError, defineAction } from '@nebula/sdk';

export const coreAssert = defineAction({
  id: 'core.assert',
  version: '1',
  title: 'Assert',
  description: 'Fails with `ASSERTION_FAILED` unless the condition is true.',
  category: 'flow',
  icon: 'shield-check',
  examples: [
    {
      title: 'Stop unless the request succeeded',
      with: { condition: '{{ $nodes.fetch.output.status == 200 }}', message: 'The request failed' },
    },
  ],
  input: {
    type: 'object',
    properties: {
      condition: {
        type: 'boolean',
        title: 'Condition',
        description:
          'true or false, usually an expression. Other types are rejected, so that nothing passes by accident.',
        examples: ['{{ $nodes.fetch.output.status == 200 }}'],
      },
      message: {
        type: 'string',
        title: 'Message',
        description: 'The error message when the condition is false.',
        default: 'the condition is false',
        examples: ['The total must be positive'],
      },
    },
    required: ['condition'],
    additionalProperties: false,
  },
  output: { type: 'null', description: 'Always null.' },
  effect: 'pure',
  run(_, { condition, message }) {
    if (!condition) throw new ActionError(message, { code: 'ASSERTION_FAILED' });
    return null;
  },
});

import { ActionError, defineAction } from '@nebula/sdk';

export const coreFail = defineAction({
  id: 'core.fail',
  version: '1',
  title: 'Fail',
  description: 'Fails with the given error. Useful for branches that must not be reached, and to test error edges.',
  category: 'flow',
  icon: 'circle-x',
  examples: [{ title: 'Stop with a reason', with: { message: 'The order {{ $input.id }} has no items' } }],
  input: {
    type: 'object',
    properties: {
      message: {
        type: 'string',
        title: 'Message',
        description: 'The error message.',
        default: 'failed on purpose',
        examples: ['The order has no items'],
      },
      code: {
        type: 'string',
        minLength: 1,
        title: 'Code',
        description: 'The error code that error edges and matchers test.',
        default: 'FAILED',
        examples: ['NO_ITEMS'],
      },
      kind: {
        enum: ['USER', 'SYSTEM'],
        title: 'Kind',
        description: 'USER: the work failed. SYSTEM: its environment failed.',
        default: 'USER',
      },
      details: { title: 'Details', description: 'Additional data of the error.' },
    },
    additionalProperties: false,
  },
  output: false,
  effect: 'pure',
  run(_, { message, code, kind, details }) {
    throw new ActionError(message, { code, kind, ...(details !== undefined && { details }) });
  },
});

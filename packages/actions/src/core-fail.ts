import { ActionError, defineAction } from '@nebula/sdk';

export const coreFail = defineAction({
  id: 'core.fail',
  version: '1',
  title: 'Fail',
  description:
    'Fails with the given error. Good for branches that must not be reached, and for trying out error edges.',
  input: {
    type: 'object',
    properties: {
      message: {
        type: 'string',
        title: 'Message',
        description: 'What went wrong, for people.',
        default: 'failed on purpose',
        examples: ['The order has no items'],
      },
      code: {
        type: 'string',
        minLength: 1,
        title: 'Code',
        description: 'What error edges and matchers look at.',
        default: 'FAILED',
        examples: ['NO_ITEMS'],
      },
      kind: {
        enum: ['USER', 'SYSTEM'],
        title: 'Kind',
        description: 'USER: the work failed. SYSTEM: the world around it did, and the `system` retry budget counts.',
        default: 'USER',
      },
      details: { title: 'Details', description: 'Anything else worth keeping with the error.' },
    },
    additionalProperties: false,
  },
  output: false,
  effect: 'pure',
  run(_, { message, code, kind, details }) {
    throw new ActionError(message, { code, kind, ...(details !== undefined && { details }) });
  },
});

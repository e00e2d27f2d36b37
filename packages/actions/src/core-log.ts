import { defineAction } from '@nebula/sdk';

export const coreLog = defineAction({
  id: 'core.log',
  version: '1',
  title: 'Log',
  description: 'Writes a line to the log of the run.',
  input: {
    type: 'object',
    properties: {
      message: {
        title: 'Message',
        description: 'The line. What is not text is written as JSON.',
        examples: ['Packed {{ $nodes.pack.output.count }} items'],
      },
      level: {
        enum: ['debug', 'info', 'warn', 'error'],
        title: 'Level',
        description: 'How important it is.',
        default: 'info',
      },
      fields: {
        type: 'object',
        title: 'Fields',
        description: 'Values to keep beside the line.',
        examples: [{ orderId: 'o-17' }],
      },
    },
    required: ['message'],
    additionalProperties: false,
  },
  output: { type: 'null', description: 'Always null.' },
  effect: 'pure',
  run(ctx, { message, level, fields }) {
    ctx.log[level](typeof message === 'string' ? message : JSON.stringify(message), fields);
    return null;
  },
});

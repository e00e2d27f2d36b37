import { defineAction } from '@nebula/sdk';

export const coreLog = defineAction({
  id: 'core.log',
  version: '1',
  title: 'Log',
  description: 'Writes a line to the log of the run.',
  category: 'data',
  icon: 'scroll-text',
  examples: [
    {
      title: 'Write a line with fields',
      with: { message: 'Packed {{ $nodes.pack.output.count }} items', fields: { orderId: '{{ $input.id }}' } },
    },
  ],
  input: {
    type: 'object',
    properties: {
      message: {
        title: 'Message',
        description: 'The log line. Values other than text are written as JSON.',
        examples: ['Packed {{ $nodes.pack.output.count }} items'],
      },
      level: {
        enum: ['debug', 'info', 'warn', 'error'],
        title: 'Level',
        description: 'The log level.',
        default: 'info',
      },
      fields: {
        type: 'object',
        title: 'Fields',
        description: 'Structured values of the line.',
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

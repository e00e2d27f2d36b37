import { ActionError, defineAction } from '@nebula/sdk';

export const fileWrite = defineAction({
  id: 'file.write',
  version: '1',
  title: 'Write a file',
  description:
    'Writes a file of the project atomically; missing folders are created. Needs the capability `files.write` for its path, which never reaches code, configuration or workflow files.',
  category: 'files',
  icon: 'file-pen',
  examples: [{ title: 'Write a report', with: { path: 'out/report.json', content: '{{ $nodes.sum.output }}' } }],
  input: {
    type: 'object',
    properties: {
      path: {
        type: 'string',
        minLength: 1,
        title: 'Path',
        description: 'Relative to the project folder.',
        examples: ['out/report.json'],
      },
      content: {
        title: 'Content',
        description: 'Text is written unchanged; other values as indented JSON.',
        examples: ['Hello', { total: 3 }],
      },
      encoding: {
        enum: ['utf8', 'base64'],
        title: 'Encoding',
        description: 'With `base64`, the content is base64 text and its bytes are written.',
        default: 'utf8',
      },
      append: {
        type: 'boolean',
        title: 'Append',
        description: 'Appends to the file. After an unknown outcome, the append is not repeated automatically.',
        default: false,
      },
    },
    required: ['path', 'content'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      path: { type: 'string', title: 'Path' },
      bytes: { type: 'integer', title: 'Size', description: 'Bytes written.' },
    },
    required: ['path', 'bytes'],
  },
  effect: ({ append }) => (append ? 'once' : 'idempotent'),
  capabilities: ['files'],
  reaches: { 'files.write': ({ path }) => path },
  async run(ctx, { path, content, encoding, append }) {
    const data = encode(content, encoding);
    await ctx.files.write(path, data, { append });
    return { path, bytes: data.byteLength };
  },
});

function encode(content: unknown, encoding: 'utf8' | 'base64'): Uint8Array {
  if (encoding === 'utf8') {
    return Buffer.from(typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
  }
  if (typeof content !== 'string' || !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(content)) {
    throw new ActionError('content is not base64 text', { code: 'INPUT_INVALID' });
  }
  return Buffer.from(content, 'base64');
}

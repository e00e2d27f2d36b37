import { ActionError, defineAction } from '@nebula/sdk';
import { SIZE_TYPE, sizeBytes } from './quantity.ts';

export const fileRead = defineAction({
  id: 'file.read',
  version: '1',
  title: 'Read a file',
  description: 'Reads a file of the project. Needs the capability `files.read` for its path.',
  category: 'files',
  icon: 'file-text',
  examples: [{ title: 'Read a JSON file', with: { path: 'data/orders.json', encoding: 'json' } }],
  input: {
    type: 'object',
    properties: {
      path: {
        type: 'string',
        minLength: 1,
        title: 'Path',
        description: 'Relative to the project folder.',
        examples: ['data/orders.json'],
      },
      encoding: {
        enum: ['utf8', 'base64', 'json'],
        title: 'Encoding',
        description: '`utf8` returns text, `base64` returns any bytes as text, `json` returns the parsed value.',
        default: 'utf8',
      },
      maxBytes: {
        ...SIZE_TYPE,
        title: 'Size limit',
        description: 'A larger file is an error. `10MB`, or bytes.',
        default: '10MB',
        examples: ['64KiB', 1048576],
      },
    },
    required: ['path'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      path: { type: 'string', title: 'Path' },
      bytes: { type: 'integer', title: 'Size', description: 'In bytes.' },
      content: { title: 'Content', description: 'Text, or with `json` the parsed value.' },
    },
    required: ['path', 'bytes', 'content'],
  },
  effect: 'pure',
  capabilities: ['files'],
  reaches: { 'files.read': ({ path }) => path },
  async run(ctx, { path, encoding, maxBytes }) {
    const data = await ctx.files.read(path, { maxBytes: sizeBytes(maxBytes, 'maxBytes') });
    return { path, bytes: data.byteLength, content: decode(data, encoding, path) };
  },
});

function decode(data: Uint8Array, encoding: 'utf8' | 'base64' | 'json', path: string) {
  if (encoding === 'base64') return Buffer.from(data).toString('base64');
  const text = utf8(data, path);
  if (encoding === 'utf8') return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ActionError(`${path} is not JSON: ${(error as Error).message}`, { code: 'FILE_NOT_JSON' });
  }
}

function utf8(data: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(data);
  } catch {
    throw new ActionError(`${path} is not UTF-8 text`, {
      code: 'FILE_NOT_TEXT',
      hint: 'Read it with encoding: base64',
    });
  }
}

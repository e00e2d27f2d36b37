import { NebulaError } from '@nebula/core';
import { textOption } from '../command-options.ts';
import { stdinText } from '../passwords.ts';
import { printDone } from '../print.ts';
import { connect } from '../remote/connection.ts';
import { checkContextName, readContexts, writeContexts } from '../remote/contexts.ts';
import { serverUrl } from '../remote/server-location.ts';
import { writeLines } from '../report-runs.ts';
import type { CommandOptions, Context } from '../services.ts';

export async function execute(
  context: Context,
  [name = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const { io } = context;
  checkContextName(name);
  const text = textOption(options, 'server');
  if (text === undefined)
    throw new NebulaError('USAGE', '--server URL is missing', { hint: 'e.g. --server http://127.0.0.1:7777' });
  const url = serverUrl(text);
  const token = options.tokenStdin === true ? (await stdinText(io)).trim() : undefined;
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new NebulaError('USAGE', 'stdin holds no token', { hint: 'a token is one word without spaces' });
  }
  const { contexts } = await readContexts(io);
  await writeContexts(io, { current: name, contexts: { ...contexts, [name]: { url, ...(token && { token }) } } });
  const who = await greeting(url, token).catch((error: unknown) => {
    if (!(error instanceof NebulaError)) throw error;
    writeLines(io.err, [`${io.err.colors.yellow('!')} kept, but: ${error.message}`]);
    return undefined;
  });
  const words = `${name} is ${url}${who === undefined ? '' : `, signed in as ${who}`}; commands now use this server`;
  return printDone(context, options, { name, url, current: true, user: who ?? null }, words);
}

async function greeting(url: string, token: string | undefined): Promise<string> {
  return (await connect({ url, token }).call('getMe')).user;
}

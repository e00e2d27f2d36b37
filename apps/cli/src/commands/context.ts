/** The commands of `nebula context`: saved servers. */
import { NebulaError } from '@nebula/core';
import { textOption } from '../command-options.ts';
import { stdinText } from '../passwords.ts';
import { printDone, printList, writeLines } from '../print.ts';
import { connect } from '../remote/connection.ts';
import { checkContextName, contextNamed, LOCAL, readContexts, writeContexts } from '../remote/contexts.ts';
import { serverUrl } from '../remote/server-location.ts';
import type { Command } from '../services.ts';

export const add: Command = async (call, [name = '']) => {
  const { io, options } = call;
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
  const greeting = connect({ url, token }).call('getMe');
  const who = await greeting.then(
    ({ user }) => user,
    (error: unknown) => {
      if (!(error instanceof NebulaError)) throw error;
      writeLines(io.err, [
        `${io.err.colors.yellow('!')} the context is saved, but the server did not accept it: ${error.message}`,
      ]);
      return undefined;
    },
  );
  const words = `${name} is ${url}${who === undefined ? '' : `, signed in as ${who}`}; commands now use this server`;
  return printDone(call, { name, url, current: true, user: who ?? null }, words);
};

export const list: Command = async (call) => {
  const { colors } = call.io.out;
  const { current, contexts } = await readContexts(call.io);
  const items = Object.entries(contexts).map(([name, { url, token }]) => ({
    name,
    url,
    current: name === current,
    hasToken: token !== undefined,
  }));
  const sign = (isCurrent: boolean): string => (isCurrent ? colors.green('✓') : ' ');
  const rows = [
    ...items.map((one) => [`${sign(one.current)} ${one.name}`, one.url, one.hasToken ? 'yes' : colors.dim('no')]),
    [`${sign(current === null)} ${LOCAL}`, colors.dim('the data folder'), ''],
  ];
  return printList(call, { current, items }, ['CONTEXT', 'SERVER', 'TOKEN'], rows, '');
};

export const use: Command = async (call, [name = '']) => {
  const saved = await readContexts(call.io);
  if (name === LOCAL) {
    if (saved.current !== null) await writeContexts(call.io, { ...saved, current: null });
    return printDone(call, { current: null }, 'commands now use the data folder');
  }
  const { url } = contextNamed(saved, name);
  await writeContexts(call.io, { ...saved, current: name });
  return printDone(call, { current: name, url }, `commands now use ${url}`);
};

export const remove: Command = async (call, [name = '']) => {
  const saved = await readContexts(call.io);
  contextNamed(saved, name);
  const { [name]: _, ...contexts } = saved.contexts;
  const isCurrent = saved.current === name;
  await writeContexts(call.io, { current: isCurrent ? null : saved.current, contexts });
  const after = isCurrent ? '; commands now use the data folder' : '';
  return printDone(call, { name, removed: true }, `removed ${name} and its token${after}`);
};

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { locationOf } from '../location.ts';
import { print } from '../print.ts';
import { connect } from '../remote/connection.ts';
import { readToken } from '../remote/found-server.ts';
import { runningServer } from '../remote/running-server.ts';
import { signInAddress } from '../serve/sign-in-address.ts';
import type { Command, Context, Project, ServerLocation } from '../services.ts';

export const execute: Command = async (call) => {
  const { services, options, io } = call;
  const project = await services.openProject(locationOf(options));
  const server = project.server ?? (await ownServer(services, project));
  const api = connect(server);
  const { authentication } = await api.call('getInfo');
  const studio = `${server.url}/`;
  // Users sign in at the page.
  const created = authentication === 'users' ? undefined : await api.call('createSignInCode');
  const url = created === undefined ? studio : signInAddress(studio, created.code);
  const isForPeople = options.json !== true && io.out.live;
  const isOpened = isForPeople && options.browser !== false && hasDesktop(io.env) && (await open(project, url));
  const { colors } = io.out;
  return print(call, { url, expiresAt: created?.expiresAt ?? null }, () => [
    isForPeople ? colors.bold(colors.cyan(url)) : url,
    ...(isForPeople ? [colors.dim(noteOf(isOpened, created !== undefined))] : []),
  ]);
};

function noteOf(isOpened: boolean, hasCode: boolean): string {
  const action = isOpened ? 'opened in your browser' : 'open it in a browser';
  return hasCode ? `${action}; the link signs in one browser, within ten minutes` : action;
}

async function ownServer(
  services: Context['services'],
  project: Project,
): Promise<Pick<ServerLocation, 'url' | 'token'>> {
  const { url } = await runningServer(services, project);
  return { url, token: readToken(project.dataDir) };
}

/** Over SSH, the browser would open on the other machine, if at all. */
function hasDesktop({ SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY }: Context['io']['env']): boolean {
  if (process.platform === 'darwin' || process.platform === 'win32') return SSH_CONNECTION === undefined;
  return SSH_CONNECTION === undefined && (DISPLAY ?? WAYLAND_DISPLAY ?? '') !== '';
}

/**
 * Opens the address through a file that only this user can read: other users of the machine can see the arguments of a
 * browser, and could use the code first.
 */
async function open(project: Project, url: string): Promise<boolean> {
  const folder = project.server === undefined ? project.dataDir : mkdtempSync(path.join(tmpdir(), 'nebula-studio-'));
  const file = path.join(folder, 'studio.html');
  rmSync(file, { force: true });
  writeFileSync(file, leadingTo(url), { mode: 0o600, flag: 'wx' });
  const [program = '', ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, file], { stdio: 'ignore', detached: true });
  const isStarted = await Promise.race([
    once(child, 'spawn').then(() => true),
    once(child, 'error').then(() => false),
  ]).catch(() => false);
  child.unref();
  return isStarted;
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

function leadingTo(url: string): string {
  const escaped = url.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<!doctype html><meta charset="utf-8"><title>Nebula Studio</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url=${escaped}">
<a href="${escaped}">Nebula Studio</a>
`;
}

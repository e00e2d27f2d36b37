/** `nebula serve` as a process of its own, on a new project folder, for tests of the Studio. It may be killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient, type NebulaClient } from '@nebula/client';

const PROGRAM = fileURLToPath(new URL('../../apps/cli/bin/nebula.js', import.meta.url));

export interface StudioServerOptions {
  /** Files of the project, by path: workflows are in `workflows`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly preset?: 'desktop' | 'selfhost';
  readonly env?: Readonly<Record<string, string>>;
}

interface Started {
  readonly url: string;
  readonly studio?: string;
}

export class StudioServer {
  readonly folder: string;
  readonly url: string;
  readonly #options: StudioServerOptions;
  #child: ChildProcess;

  private constructor(folder: string, options: StudioServerOptions, child: ChildProcess, { url }: Started) {
    this.folder = folder;
    this.url = url;
    this.#options = options;
    this.#child = child;
  }

  static async start(options: StudioServerOptions = {}): Promise<StudioServer> {
    const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-studio-')));
    for (const [name, text] of Object.entries({ 'package.json': '{}', ...options.files })) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    const { child, started } = await spawned(folder, options, 0);
    return new StudioServer(folder, options, child, started);
  }

  /** The token of a desktop server. */
  get token(): string {
    return readFileSync(path.join(this.folder, '.nebula/token'), 'utf8').trim();
  }

  /** A client with the token of a desktop server. */
  client(): NebulaClient {
    return createClient({ url: this.url, token: this.token });
  }

  /** An address that signs one browser in. */
  async signInAddress(target = '/'): Promise<string> {
    const { code } = await this.client().call('createSignInCode');
    return `${this.url}${target}#code=${code}`;
  }

  /** Ends the process, by default as a power cut would. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill(signal);
    await ended;
  }

  /** Starts it again, on the same folder and port. */
  async restart(): Promise<void> {
    ({ child: this.#child } = await spawned(this.folder, this.#options, Number(new URL(this.url).port)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill('SIGTERM');
  }
}

async function spawned(
  folder: string,
  { preset = 'desktop', env }: StudioServerOptions,
  port: number,
): Promise<{ readonly child: ChildProcess; readonly started: Started }> {
  const { npm_command: _command, npm_execpath: _program, NEBULA_DATA_DIR: _data, ...outer } = process.env;
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--json', '--preset', preset, '--port', String(port)], {
    cwd: folder,
    env: { ...outer, XDG_CONFIG_HOME: path.join(folder, 'user'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  const started = await new Promise<Started>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { event, ...members } = JSON.parse(line) as Started & { readonly event: string };
      if (event === 'server.started') resolve(members);
    });
    child.once('exit', () => reject(new Error(`The server did not start: ${errors}`)));
  });
  return { child, started };
}

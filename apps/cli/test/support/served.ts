/** A project folder with a server of this process on it, and commands that talk to it. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { composeServices } from '../../src/compose/services.ts';
import { runCommandLine } from '../../src/main.ts';
import type { ServeOptions, ServerSession } from '../../src/services.ts';
import { projectFolder } from './nebula-process.ts';
import { memoryIo, memoryOutput } from './screen-text.ts';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface SayOptions {
  readonly stdin?: string;
  readonly env?: Record<string, string>;
  readonly columns?: number;
}

/** One command line in this process, with the real services. */
export async function say(cwd: string, argv: readonly string[], options: SayOptions = {}): Promise<Said> {
  const env = { XDG_CONFIG_HOME: path.join(cwd, 'user'), ...options.env };
  const io = memoryIo({
    cwd,
    env,
    now: () => Date.now(),
    ...(options.stdin !== undefined && { stdin: options.stdin }),
    ...(options.columns !== undefined && { out: memoryOutput({ columns: options.columns, live: true }) }),
  });
  const code = await runCommandLine({ io, services: composeServices(io), program: 'nebula' }, argv);
  return { code, out: io.out.text(), err: io.err.text() };
}

export class Served {
  readonly cwd: string;
  readonly session: ServerSession;
  /** Lines of its log. */
  readonly troubles: string[];

  private constructor(cwd: string, session: ServerSession, troubles: string[]) {
    this.cwd = cwd;
    this.session = session;
    this.troubles = troubles;
  }

  static async open(files: Readonly<Record<string, string>>, options: Partial<ServeOptions> = {}): Promise<Served> {
    const cwd = projectFolder(files);
    const io = memoryIo({ cwd, env: {} });
    const services = composeServices(io);
    const troubles: string[] = [];
    const session = await services.openServer(await services.openProject({}), {
      port: 0,
      onLog: (line) => troubles.push(line),
      onRequest: () => undefined,
      ...options,
    });
    return new Served(cwd, session, troubles);
  }

  get url(): string {
    return this.session.url;
  }

  /** Over HTTP, from a place that knows the server by its address alone. */
  async nebula(argv: readonly string[], options: SayOptions = {}): Promise<Said> {
    return await say(this.cwd, argv, { ...options, env: { NEBULA_SERVER: this.url, ...options.env } });
  }

  async json(...argv: string[]): Promise<Readonly<Record<string, unknown>> & { readonly executionId: string }> {
    const { out, err } = await this.nebula([...argv, '--json']);
    if (out === '') throw new Error(err);
    return JSON.parse(out) as Readonly<Record<string, unknown>> & { readonly executionId: string };
  }

  write(name: string, text: string): void {
    writeFileSync(path.join(this.cwd, name), text);
  }

  async close(): Promise<void> {
    await this.session.close();
  }
}

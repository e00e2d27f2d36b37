/** A server in a process of its own, which may be killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const SERVER_TOKEN = 'load';

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  stderr(): string;
  end(signal: NodeJS.Signals): Promise<void>;
}

export async function startServerProcess(folder: string, flags: readonly string[] = []): Promise<ServerProcess> {
  const script = fileURLToPath(new URL('../apps/server/test/support/serve.ts', import.meta.url));
  const child = spawn(process.execPath, [...flags, script, folder], { stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (data: Buffer) => {
    stderr += data.toString();
  });
  const ended = once(child, 'close');
  const url = await Promise.race([
    once(child.stdout, 'data').then(([data]) => String(data).trim()),
    ended.then(() => Promise.reject(new Error(`The server did not start: ${stderr}`))),
  ]);
  return {
    url,
    pid: child.pid as number,
    stderr: () => stderr,
    async end(signal) {
      child.kill(signal);
      await ended;
    },
  };
}

/** A sandbox on an empty temporary project folder. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenSandbox } from '@nebula/ports/conformance';
import { createInProcessSandbox } from '../../src/sandbox-inprocess/index.ts';

export async function openSandbox(options: { env?: Readonly<Record<string, string>> } = {}): Promise<OpenSandbox> {
  const projectDir = await realpath(await mkdtemp(join(tmpdir(), 'nebula-sandbox-')));
  return {
    sandbox: createInProcessSandbox({ projectDir, ...options }),
    projectDir,
    close: () => rm(projectDir, { recursive: true, force: true }),
  };
}

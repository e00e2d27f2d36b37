import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { recordedLines } from '../src/recorded-requests.ts';
import type { ProjectCall } from '../src/services.ts';
import { memoryIo } from './support/screen-text.ts';

test('[CLI-601] a recorded request says who acts on it', async () => {
  const dataDir = path.join(mkdtempSync(path.join(tmpdir(), 'recorded-')), '.nebula');
  mkdirSync(dataDir);
  const said = async (pid?: number, server?: object) => {
    const services = { engineHolder: async () => (pid === undefined ? undefined : { pid, host: 'here' }) };
    const project = { dir: '', configFile: undefined, config: {}, dataDir, needsDataDirOption: false, server };
    const call = { io: memoryIo({}), services, project, program: 'nebula', options: {} } as unknown as ProjectCall;
    return (await recordedLines(call, 'exe_1', 'Request recorded')).join('\n');
  };
  expect(await said()).toBe('Request recorded. No engine is running here: continue with\n  nebula resume exe_1');
  expect(await said(7)).toBe('Request recorded. The engine of process 7 acts on it.');
  writeFileSync(path.join(dataDir, 'server.json'), '{"url":"http://127.0.0.1:1","pid":7}');
  expect(await said(7)).toBe('Request recorded. The server at http://127.0.0.1:1 acts on it.');
  expect(await said(8)).toBe('Request recorded. The engine of process 8 acts on it.');
  expect(await said(undefined, { url: 'http://other' })).toBe('Request recorded. The server acts on it.');
});

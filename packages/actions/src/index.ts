/** The built-in actions. Importing them is cheap: heavy modules are loaded by the first attempt that needs them. */
import type { Action } from '@nebula/core';
import { coreAssert } from './core-assert.ts';
import { coreFail } from './core-fail.ts';
import { coreLog } from './core-log.ts';
import { coreNoop } from './core-noop.ts';
import { coreSet } from './core-set.ts';
import { coreSleep } from './core-sleep.ts';
import { fileRead } from './file-read.ts';
import { fileWrite } from './file-write.ts';
import { httpRequest } from './http-request.ts';
import { shellRun } from './shell-run.ts';
import { workflowGraphJob } from './workflow-graph-job.ts';

export {
  coreAssert,
  coreFail,
  coreLog,
  coreNoop,
  coreSet,
  coreSleep,
  fileRead,
  fileWrite,
  httpRequest,
  shellRun,
  workflowGraphJob,
};

export const builtinActions: readonly Action[] = [
  coreAssert,
  coreFail,
  coreLog,
  coreNoop,
  coreSet,
  coreSleep,
  fileRead,
  fileWrite,
  httpRequest,
  shellRun,
];

export type { Frame, WaitingFor } from './chronicle.ts';
export { Coverage, type CoverageData, type WorkflowCoverage } from './coverage.ts';
export { type CrashDifference, type CrashOptions, type CrashReport, everyCrashPoint } from './every-crash-point.ts';
export { after, fail, hang, type Mock, type MockContext, sequence } from './mock.ts';
export type { Call } from './outside.ts';
export type { WorkflowSource } from './source.ts';
export { type ApproveOptions, TestRun } from './test-run.ts';
export { type TestOptions, testWorkflow } from './test-workflow.ts';

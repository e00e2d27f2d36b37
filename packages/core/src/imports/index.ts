/** Imports workflow definitions of other systems. */
export { JOB_ACTION, JOB_FAILED, JOB_REFERENCE, JOB_REFUSED, jobCommand } from './job-action.ts';
export { type JobSummary, jobsDefinition, jobsIn } from './jobs-definition.ts';
export { readJobsDocument } from './jobs-document.ts';

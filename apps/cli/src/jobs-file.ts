/** Runs jobs of workflow-graph in this process. `nebula run` grants a jobs file `sh` and nothing else. */
import { type JsonObject, jobsIn, NebulaError, type WorkflowDefinition } from '@nebula/core';

/** Adds the capability to run `sh` to a definition whose nodes are all jobs. Throws `LABELS_MISSING`. */
export function runnableHere(definition: WorkflowDefinition, labels: readonly string[] = []): WorkflowDefinition {
  const jobs = jobsIn(definition as unknown as JsonObject);
  if (jobs === undefined) return definition;
  const missing = [...new Set(jobs.flatMap((job) => job.labels.filter((label) => !labels.includes(label))))];
  if (missing.length > 0) {
    const names = jobs.filter((job) => job.labels.some((label) => missing.includes(label))).map(({ id }) => id);
    throw new NebulaError(
      'LABELS_MISSING',
      `this process lacks the labels of ${names.join(', ')}: ${missing.join(', ')}`,
      {
        hint: `nebula run --labels ${[...labels, ...missing].join(',')} … runs them here; a server hands them to workers that have the labels`,
      },
    );
  }
  return { ...definition, config: { ...definition.config, capabilities: { shell: ['sh'] } } };
}

/** The labels from `--labels`. */
export function labelsIn(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  return text
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');
}

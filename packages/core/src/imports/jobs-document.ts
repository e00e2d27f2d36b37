/**
 * Reads a workflow-graph jobs document and checks every key. There are two equivalent forms: the file, in which `jobs`
 * is a map, and the body of its client's `createWorkflow`, in which `jobs` is a list. Unknown keys are errors.
 */
import { EXPRESSION, TEXT, VALUE } from '../definition/attempt-keys.ts';
import type { RuleContext } from '../definition/kind-rules.ts';
import { ProblemList } from '../definition/problem-list.ts';
import { checkDocument } from '../definition/shape.ts';
import { type SourceMap, TextSourceMap } from '../definition/source-map.ts';
import { recordOf, type ValueType } from '../definition/value-type.ts';
import { idsInOrder } from '../node-order.ts';
import { type DocumentPath, didYouMean, type Problem } from '../problem.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../value.ts';
import { type JobStep, stepsCommand } from './job-action.ts';

/** A comparison of two names takes 3 µs, and files may have thousands of both. */
const MAX_SUGGESTIONS = 20;
const MAX_CANDIDATES = 1_000;

export interface Job {
  readonly id: string;
  readonly path: DocumentPath;
  readonly name: string | undefined;
  readonly needs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly steps: readonly JobStep[];
  readonly timeoutSeconds: number | undefined;
  readonly condition: string | undefined;
  readonly labels: readonly string[];
  readonly retries: number;
  /** Used for display only, and returned unchanged. */
  readonly display: JsonObject;
}

export interface JobsDocument {
  readonly name: string;
  /** The trigger as the canvas of workflow-graph shows it: `on: push`. */
  readonly trigger: string;
  readonly env: Readonly<Record<string, string>>;
  readonly jobs: readonly Job[];
}

const TEXTS: ValueType = { is: 'list', of: TEXT, orOne: true };
const RETRIES: ValueType = { is: 'integer', min: 0, max: 1_000 };
const OBJECT: ValueType = { is: 'object' };
const SECONDS: ValueType = { is: 'number', min: 0.001, max: Number.MAX_SAFE_INTEGER };

/** Keys that only displays use, and keys that a status has: clients load a status, edit it and post it. */
const DISPLAY_KEYS = ['metadata', 'ports', 'children', 'collapsed'];
const STATE_KEYS = [
  ...['status', 'duration_secs', 'started_at', 'output', 'attempt'],
  ...['outputs', 'error', 'started_at_ms', 'completed_at_ms'],
];

const STEP = recordOf(
  'step',
  'a step',
  { id: VALUE, name: VALUE, run: TEXT, if: EXPRESSION, env: OBJECT },
  { run: 'run: make test' },
);
const STEPS: ValueType = { is: 'list', of: { is: 'record', record: STEP } };
const JOB_KEYS = { name: TEXT, steps: STEPS, env: OBJECT, timeout: SECONDS, if: EXPRESSION };
const JOB = recordOf('job', 'a job', { ...JOB_KEYS, needs: TEXTS, run: TEXT, labels: TEXTS, retries: RETRIES });
const LISTED_JOB = recordOf(
  'listedJob',
  'a job',
  {
    ...JOB_KEYS,
    ...{ id: TEXT, command: TEXT, depends_on: TEXTS, required_labels: TEXTS, max_retries: RETRIES },
    ...Object.fromEntries([...DISPLAY_KEYS, ...STATE_KEYS].map((key) => [key, VALUE])),
  },
  { id: 'id: build', command: 'command: make test' },
);
const FILE_KEYS = { name: TEXT, on: VALUE, env: OBJECT };
const EXAMPLE = { jobs: 'jobs: { build: { run: make } }' };
const JOBS: ValueType = { is: 'map', of: { is: 'record', record: JOB }, anyKeys: true };
const FILE = recordOf('file', 'the workflow', { ...FILE_KEYS, jobs: JOBS }, EXAMPLE);
const LIST = recordOf('list', 'the workflow', {
  ...FILE_KEYS,
  ...{ id: VALUE, trigger: TEXT, status: VALUE, run_id: VALUE },
  jobs: { is: 'list', of: { is: 'record', record: LISTED_JOB } },
});

const RULES = { step: checkValues, job: checkJob, listedJob: checkValues, file: checkJobs, list: checkJobs };

/** True for a document with `jobs` and without the keys of a Nebula workflow. */
export function isJobsDocument(value: JsonObject): boolean {
  return Object.hasOwn(value, 'jobs') && !Object.hasOwn(value, 'nodes') && !Object.hasOwn(value, 'id');
}

/** `document` is present exactly when there are no findings. `order`: the ids of the jobs in source order. */
export function readJobsDocument(
  value: Json,
  order?: readonly string[],
  source: SourceMap = new TextSourceMap('', undefined, () => undefined),
): { readonly document?: JobsDocument; readonly findings: readonly Problem[] } {
  const problems = new ProblemList(source);
  const isList = isJsonObject(value) && isJsonList(value.jobs);
  checkDocument(isList ? LIST : FILE, value, problems, { rules: RULES, isNullAbsent: true });
  if (problems.hasErrors) return { findings: problems.sorted() };
  return { findings: [], document: documentIn(value as JsonObject, order) };
}

function documentIn(value: JsonObject, order: readonly string[] | undefined): JobsDocument {
  const jobs = value.jobs as JsonObject | readonly Json[];
  const read = isJsonList(jobs)
    ? jobs.map((job, index) => jobIn(job as JsonObject, index))
    : idsInOrder({ nodes: jobs, ...(order && { order }) }).map((id) => jobIn(jobs[id] as JsonObject, id));
  return { name: text(value.name) ?? 'workflow', trigger: trigger(value), env: texts(value.env), jobs: read };
}

/** `key` is a number for a job in the form of `createWorkflow`, which has a single command. */
function jobIn(job: JsonObject, key: string | number): Job {
  const run = String(job.command ?? job.run);
  const steps = list(job.steps).map((step) => stepIn(step as JsonObject));
  // A status has a command and its steps; an edited command replaces the steps.
  const isWhole = steps.length === 0 || (typeof key === 'number' && stepsCommand(steps) !== run);
  const display = DISPLAY_KEYS.filter((name) => (job[name] ?? null) !== null).map((name) => [name, job[name] ?? null]);
  return {
    id: typeof key === 'number' ? String(job.id) : key,
    path: ['jobs', key],
    name: text(job.name),
    needs: names(job.needs ?? job.depends_on),
    env: texts(job.env),
    steps: isWhole ? [{ run, env: {}, condition: undefined, isWhole: true }] : steps,
    timeoutSeconds: (job.timeout as number | null | undefined) ?? undefined,
    condition: conditionIn(job.if),
    labels: names(job.labels ?? job.required_labels),
    retries: Number(job.retries ?? job.max_retries ?? 0),
    display: Object.fromEntries(display),
  };
}

function stepIn({ run, env, if: condition }: JsonObject): JobStep {
  return { run: String(run), env: texts(env), condition: conditionIn(condition) };
}

function text(value: Json | undefined): string | undefined {
  return (value as string | null | undefined) ?? undefined;
}

function texts(value: Json | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(value ?? {}).map(([name, one]) => [name, String(one ?? '')]));
}

function list(value: Json | undefined): readonly Json[] {
  return isJsonList(value) ? value : value === undefined || value === null ? [] : [value];
}

function names(value: Json | undefined): readonly string[] {
  return [...new Set(list(value) as readonly string[])];
}

function conditionIn(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return String(value)
    .replace(/^\s*\$?\{\{|\}\}\s*$/g, '')
    .trim();
}

function trigger({ on, trigger: shown }: JsonObject): string {
  if (typeof shown === 'string') return shown;
  if (typeof on === 'string') return `on: ${on}`;
  const events = isJsonList(on) ? on.map(String) : isJsonObject(on) ? Object.keys(on) : [];
  return events.length === 0 ? '' : `on: [${events.join(', ')}]`;
}

function checkJob(context: RuleContext): void {
  checkValues(context);
  const { value, meant, report } = context;
  const { run, steps } = value;
  const hasSteps = list(steps).length > 0;
  if (hasSteps !== ((run ?? null) !== null) || meant.has('run') || meant.has('steps')) return;
  report({ code: 'WRONG_TYPE', message: "a job needs either 'run' or 'steps'", hint: 'run: make test', at: 'key' });
}

/** Checks the variables and the condition of a record. */
function checkValues({ value: { env, if: condition }, report }: RuleContext): void {
  const invalidValue = (path: DocumentPath, message: string, hint?: string) =>
    report({ code: 'WRONG_TYPE', message, hint, path });
  for (const [name, one] of isJsonObject(env) ? Object.entries(env) : []) {
    const path = ['env', name];
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      invalidValue(path, `'${name.slice(0, 60)}' is not a valid variable name`);
    else if (typeof one === 'object' && one !== null) invalidValue(path, `'${name}' must be a string`);
  }
  if (typeof condition !== 'string' || condition.trim() === '') return;
  const expression = conditionIn(condition) as string;
  if (expression === '') return invalidValue(['if'], "'if' must be an expression");
  const word = statusWordIn(expression);
  if (word === undefined || word === expression) return;
  const hint = `write \`if: ${word}\`, or an expression that tests \`$nodes['id'].status\``;
  invalidValue(['if'], `${word} must stand alone`, hint);
}

/** Checks that ids are unique, and that the needed jobs exist. */
function checkJobs(context: RuleContext): void {
  checkValues(context);
  const { value, report } = context;
  const { jobs } = value;
  const needsKey = isJsonList(jobs) ? 'depends_on' : 'needs';
  const ids = new Set<string>();
  const written = isJsonList(jobs) ? jobs.entries() : Object.entries(jobs ?? {});
  const known: { id: string; at: DocumentPath; needs: readonly Json[] }[] = [];
  for (const [key, job] of written) {
    if (!isJsonObject(job)) continue;
    const id = typeof key === 'string' ? key : String(job.id);
    const at = ['jobs', key];
    if (ids.has(id)) report({ code: 'WRONG_TYPE', message: `duplicate job '${id}'`, path: [...at, 'id'] });
    ids.add(id);
    known.push({ id, at, needs: list(job[needsKey]) });
  }
  let suggestions = 0;
  for (const { id, at, needs } of known) {
    for (const need of needs) {
      if (typeof need !== 'string' || ids.has(need)) continue;
      const near = suggestions++ < MAX_SUGGESTIONS && ids.size <= MAX_CANDIDATES ? didYouMean(need, ids) : undefined;
      const hint = near === undefined ? 'name a job of this workflow' : `did you mean '${near}'?`;
      const message = `the job '${id}' needs '${need}', which does not exist`;
      report({ code: 'UNKNOWN_NODE', message, hint, path: [...at, needsKey] });
    }
  }
}

/** The first of `always()`, `failure()` and the like outside of texts. */
function statusWordIn(condition: string): string | undefined {
  return condition.replaceAll(/'[^']*'|"[^"]*"/g, '').match(/(?<![\w.$])(always|failure|success)\(\)/)?.[0];
}

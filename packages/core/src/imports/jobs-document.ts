/**
 * Reads a workflow-graph jobs document and checks every key. There are two equivalent forms: the file, in which `jobs`
 * is a map, and the body of its client's `createWorkflow`, in which `jobs` is a list. Unknown keys are errors.
 */
import { idsInOrder } from '../node-order.ts';
import { type DocumentPath, didYouMean } from '../problem.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../value.ts';
import { type JobStep, stepsCommand } from './job-action.ts';

export interface JobFinding {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly path: DocumentPath;
  readonly at?: 'key' | 'value';
}

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

const FILE_KEYS = ['name', 'on', 'env', 'jobs'];
const LIST_KEYS = ['id', 'name', 'trigger', 'on', 'env', 'jobs', 'status', 'run_id'];
const JOB_KEYS = ['name', 'needs', 'run', 'steps', 'env', 'timeout', 'if', 'labels', 'retries'];
const STEP_KEYS = ['id', 'name', 'run', 'if', 'env'];
/** Keys that only displays use, and keys that a status has: clients load a status, edit it and post it. */
const DISPLAY_KEYS = ['metadata', 'ports', 'children', 'collapsed'];
const STATE_KEYS = [
  ...['status', 'duration_secs', 'started_at', 'output', 'attempt'],
  ...['outputs', 'error', 'started_at_ms', 'completed_at_ms'],
];
const LISTED_JOB_KEYS = [
  ...['id', 'name', 'command', 'depends_on', 'required_labels', 'max_retries', 'steps', 'env', 'timeout', 'if'],
  ...DISPLAY_KEYS,
  ...STATE_KEYS,
];
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_RETRIES = 1_000;

/** True for a document with `jobs` and without the keys of a Nebula workflow. */
export function isJobsDocument(value: JsonObject): boolean {
  return Object.hasOwn(value, 'jobs') && !Object.hasOwn(value, 'nodes') && !Object.hasOwn(value, 'id');
}

/** `document` is present exactly when there are no findings. `order`: the ids of the jobs in source order. */
export function readJobsDocument(
  value: Json,
  order?: readonly string[],
): {
  readonly document?: JobsDocument;
  readonly findings: readonly JobFinding[];
} {
  const reader = new JobsReader();
  const document = reader.read(value, order);
  return { findings: reader.findings, ...(reader.findings.length === 0 && document !== undefined && { document }) };
}

class JobsReader {
  readonly findings: JobFinding[] = [];

  read(value: Json, order: readonly string[] | undefined): JobsDocument | undefined {
    if (!isJsonObject(value)) return this.wrong([], 'the workflow must be a mapping');
    const { jobs } = value;
    const isList = isJsonList(jobs);
    this.keys(value, isList ? LIST_KEYS : FILE_KEYS, [], 'the workflow');
    const env = this.texts(value['env'], ['env']);
    if (!isList && !isJsonObject(jobs)) return this.wrong(['jobs'], "'jobs' must be a mapping or a list of jobs");
    const ids = isList ? [] : idsInOrder({ nodes: jobs, ...(order && { order }) });
    const entries = isList ? jobs.entries() : ids.map((id) => [id, jobs[id] as Json] as const);
    const read: Job[] = [];
    for (const [key, job] of entries) {
      const path = ['jobs', key];
      if (!isJsonObject(job)) this.wrong(path, `'${key}' must be a mapping`);
      else read.push(typeof key === 'string' ? this.job(key, job, path) : this.listed(job, path));
    }
    this.references(read);
    const name = this.text(value['name'], ['name']) ?? 'workflow';
    return { name, trigger: this.trigger(value), env, jobs: read };
  }

  private job(id: string, job: JsonObject, path: DocumentPath): Job {
    this.keys(job, JOB_KEYS, path, `the job '${id}'`);
    return {
      id,
      path,
      name: this.text(job['name'], [...path, 'name']),
      needs: this.list(job['needs'], [...path, 'needs']),
      env: this.texts(job['env'], [...path, 'env']),
      steps: this.steps(id, job, path),
      timeoutSeconds: this.seconds(job['timeout'], [...path, 'timeout']),
      condition: this.condition(job['if'], [...path, 'if']),
      labels: this.list(job['labels'], [...path, 'labels']),
      retries: this.count(job['retries'], [...path, 'retries']),
      display: {},
    };
  }

  /** A job in the form of `createWorkflow`, which has a single command. */
  private listed(job: JsonObject, path: DocumentPath): Job {
    const id = this.text(job['id'], [...path, 'id']);
    if (id === undefined) this.missing(path, 'the job', 'id');
    this.keys(job, LISTED_JOB_KEYS, path, `the job '${id}'`);
    const command = this.text(job['command'], [...path, 'command']);
    if (command === undefined) this.missing(path, `the job '${id}'`, 'command');
    const display = DISPLAY_KEYS.filter((key) => (job[key] ?? null) !== null).map((key) => [key, job[key] ?? null]);
    return {
      id: id ?? '',
      path,
      name: this.text(job['name'], [...path, 'name']),
      needs: this.list(job['depends_on'], [...path, 'depends_on']),
      env: this.texts(job['env'], [...path, 'env']),
      steps: this.listedSteps(command ?? '', job['steps'], [...path, 'steps']),
      timeoutSeconds: this.seconds(job['timeout'], [...path, 'timeout']),
      condition: this.condition(job['if'], [...path, 'if']),
      labels: this.list(job['required_labels'], [...path, 'required_labels']),
      retries: this.count(job['max_retries'], [...path, 'max_retries']),
      display: Object.fromEntries(display),
    };
  }

  /** A status has both; an edited command replaces the steps. */
  private listedSteps(command: string, steps: Json | undefined, path: DocumentPath): JobStep[] {
    const whole: JobStep = { run: command, env: {}, condition: undefined, isWhole: true };
    if (steps === undefined || steps === null) return [whole];
    if (!isJsonList(steps)) return this.wrong(path, "'steps' must be a list") ?? [];
    const read = steps.map((step, index) => this.step(step, [...path, index]));
    return stepsCommand(read) === command ? read : [whole];
  }

  private steps(id: string, job: JsonObject, path: DocumentPath): JobStep[] {
    const { run, steps } = job;
    const isEmpty = steps === undefined || (Array.isArray(steps) && steps.length === 0);
    if (isEmpty === (run === undefined)) {
      this.add('WRONG_TYPE', path, `the job '${id}' needs either 'run' or 'steps'`, 'run: make test', 'key');
      return [];
    }
    if (isEmpty) return [{ run: this.text(run, [...path, 'run']) ?? '', env: {}, condition: undefined, isWhole: true }];
    if (!Array.isArray(steps)) return this.wrong([...path, 'steps'], "'steps' must be a list") ?? [];
    return steps.map((step, index) => this.step(step, [...path, 'steps', index]));
  }

  private step(step: Json, path: DocumentPath): JobStep {
    const members = isJsonObject(step) ? step : {};
    const run = this.text(members['run'], [...path, 'run']);
    if (run === undefined) this.missing(path, 'the step', 'run');
    this.keys(members, STEP_KEYS, path, 'the step');
    return {
      run: run ?? '',
      env: this.texts(members['env'], [...path, 'env']),
      condition: this.condition(members['if'], [...path, 'if']),
    };
  }

  private references(jobs: readonly Job[]): void {
    const ids = new Set<string>();
    for (const { id, path } of jobs) {
      if (ids.has(id)) this.wrong([...path, 'id'], `duplicate job '${id}'`);
      ids.add(id);
    }
    for (const { id, needs, path } of jobs) {
      for (const need of needs.filter((one) => !ids.has(one))) {
        const near = didYouMean(need, ids);
        const hint = near === undefined ? 'name a job of this workflow' : `did you mean '${near}'?`;
        const key = typeof path[1] === 'number' ? 'depends_on' : 'needs';
        this.add('UNKNOWN_NODE', [...path, key], `the job '${id}' needs '${need}', which does not exist`, hint);
      }
    }
  }

  private trigger({ on, trigger }: JsonObject): string {
    if (typeof trigger === 'string') return trigger;
    if (trigger !== undefined && trigger !== null) this.wrong(['trigger'], "'trigger' must be a string");
    if (typeof on === 'string') return `on: ${on}`;
    const names = isJsonList(on) ? on.map(String) : isJsonObject(on) ? Object.keys(on) : [];
    return names.length === 0 ? '' : `on: [${names.join(', ')}]`;
  }

  private keys(value: JsonObject, known: readonly string[], path: DocumentPath, what: string): void {
    for (const key of Object.keys(value).filter((one) => !known.includes(one))) {
      const near = didYouMean(key, known);
      const hint = near === undefined ? `the keys are ${known.join(', ')}` : `did you mean '${near}'?`;
      this.add('UNKNOWN_KEY', [...path, key], `unknown key '${key.slice(0, 60)}' in ${what}`, hint, 'key');
    }
  }

  private text(value: Json | undefined, path: DocumentPath): string | undefined {
    if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
    return this.wrong(path, `'${path.at(-1)}' must be a string`);
  }

  private texts(value: Json | undefined, path: DocumentPath): Record<string, string> {
    if (value === undefined || value === null) return {};
    if (!isJsonObject(value)) return this.wrong(path, `'${path.at(-1)}' must be a mapping of strings`) ?? {};
    const read: [string, string][] = [];
    for (const [name, text] of Object.entries(value)) {
      if (!VARIABLE.test(name)) this.wrong([...path, name], `'${name.slice(0, 60)}' is not a valid variable name`);
      else if (typeof text === 'object' && text !== null) this.wrong([...path, name], `'${name}' must be a string`);
      else read.push([name, String(text ?? '')]);
    }
    return Object.fromEntries(read);
  }

  private list(value: Json | undefined, path: DocumentPath): readonly string[] {
    const all = value === undefined || value === null ? [] : typeof value === 'string' ? [value] : value;
    if (isJsonList(all) && all.every((one) => typeof one === 'string')) return [...new Set(all)];
    return this.wrong(path, `'${path.at(-1)}' must be a list of strings`) ?? [];
  }

  private condition(value: Json | undefined, path: DocumentPath): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'boolean') return String(value);
    const text = typeof value === 'string' ? value.replace(/^\s*\$?\{\{|\}\}\s*$/g, '').trim() : '';
    if (text === '') return this.wrong(path, "'if' must be an expression");
    const word = statusWordIn(text);
    if (word === undefined || word === text) return text;
    const hint = `write \`if: ${word}\`, or an expression that tests \`$nodes['id'].status\``;
    return void this.add('WRONG_TYPE', path, `${word} must stand alone`, hint);
  }

  private seconds(value: Json | undefined, path: DocumentPath): number | undefined {
    if (value === undefined || value === null || (typeof value === 'number' && value > 0)) return value ?? undefined;
    return this.wrong(path, "'timeout' must be a number of seconds above 0");
  }

  private count(value: Json | undefined, path: DocumentPath): number {
    const number = value ?? 0;
    if (typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= MAX_RETRIES) return number;
    return this.wrong(path, `'${path.at(-1)}' must be a whole number from 0 to ${MAX_RETRIES}`) ?? 0;
  }

  private missing(path: DocumentPath, what: string, key: string): void {
    this.add('MISSING_KEY', path, `${what} must have the key '${key}'`, undefined, 'key');
  }

  private wrong(path: DocumentPath, message: string): undefined {
    this.add('WRONG_TYPE', path, message);
  }

  private add(code: string, path: DocumentPath, message: string, hint?: string, at?: 'key'): void {
    this.findings.push({ code, message, path, ...(hint !== undefined && { hint }), ...(at && { at }) });
  }
}

/** The first of `always()`, `failure()` and the like outside of texts. */
function statusWordIn(condition: string): string | undefined {
  return condition.replaceAll(/'[^']*'|"[^"]*"/g, '').match(/(?<![\w.$])(always|failure|success)\(\)/)?.[0];
}

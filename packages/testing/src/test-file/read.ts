/** Reads a `*.test.yaml` file: the runs and their expectations, or all problems of the file. */
import {
  type DocumentPath,
  isJsonObject,
  type Json,
  type JsonObject,
  type Problem,
  type RuleContext,
  readDocument,
  recordOf,
  type SourceMap,
  type SourceRange,
  type ValueType,
} from '@nebula/core';
import type { Settlement } from '@nebula/core/run';
import { after, fail, hang, type Mock, sequence } from '../mock.ts';
import type { CancelOptions, MigrateOptions } from '../test-run.ts';
import { EXPECT, type Expectation, expectationOf } from './expectation.ts';

export interface TestFile {
  /** Relative to the file, as written. */
  readonly workflow: string;
  readonly workflows: readonly string[];
  /** Later versions of the workflow. */
  readonly versions: readonly string[];
  readonly tests: readonly TestCase[];
}

export interface TestCase {
  readonly name: string;
  readonly range: SourceRange | undefined;
  readonly input: Json;
  readonly mocks: Readonly<Record<string, Mock>>;
  readonly real: readonly string[];
  /** Name of the secret → value. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Time stops as soon as this node has started. */
  readonly until?: string;
  readonly steps: readonly Step[];
  readonly expect: Expectation;
  /** Also kills the run at every append to its journal. */
  readonly crashes: boolean;
}

export type Step = StepAction & {
  readonly range: SourceRange | undefined;
  /** Applied to the execution that this node started, or that a node of it started, and so on. */
  readonly in: readonly string[];
};

type StepAction =
  | { readonly do: 'advance'; readonly duration: string }
  | { readonly do: 'signal' | 'publish'; readonly name: string; readonly payload: Json; readonly key?: string }
  | {
      readonly do: 'approve' | 'reject';
      readonly node: string;
      readonly by?: string;
      readonly comment?: string;
      readonly form?: Json;
    }
  | { readonly do: 'callback'; readonly node: string; readonly payload: Json }
  | { readonly do: 'cancel'; readonly options: CancelOptions }
  | { readonly do: 'pause'; readonly reason?: string }
  | { readonly do: 'resume' | 'retry' | 'crash' | 'migrateBack' }
  | { readonly do: 'migrate'; readonly options: MigrateOptions }
  | { readonly do: 'replay'; readonly node: string; readonly input?: Json }
  | { readonly do: 'settle'; readonly node: string; readonly settlement: Settlement }
  | { readonly do: 'expect'; readonly expect: Expectation };

export interface ReadTestFile {
  /** Present exactly when there are no problems. */
  readonly file: TestFile | undefined;
  readonly problems: readonly Problem[];
  readonly text: string;
}

const TEXT: ValueType = { is: 'text' };
const TEXTS: ValueType = { is: 'list', of: TEXT };
const VALUE: ValueType = { is: 'value' };
const BOOLEAN: ValueType = { is: 'boolean' };
const DURATION: ValueType = { is: 'duration' };

const either = (...of: readonly ValueType[]): ValueType => ({ is: 'either', of });
const record = (...args: Parameters<typeof recordOf>): ValueType => ({ is: 'record', record: recordOf(...args) });

/** `approve: ok` is short for `approve: { node: ok }`. */
const about = (main: 'name' | 'node', others: Readonly<Record<string, ValueType>>): ValueType =>
  either(TEXT, record('about', 'this step', { [main]: TEXT, ...others }, { [main]: `${main}: …` }));

const FAILURE = record('failure', 'an error', {
  code: TEXT,
  kind: { is: 'choice', of: ['USER', 'SYSTEM'] },
  message: TEXT,
  details: VALUE,
});
/** Refers to itself: a sequence consists of mocks. */
const MOCK: ValueType = record('mock', 'a mock', {
  output: VALUE,
  error: either(TEXT, FAILURE),
  sequence: {
    is: 'list',
    get of() {
      return MOCK;
    },
  },
  after: DURATION,
  hang: BOOLEAN,
});
const SHARED: Readonly<Record<string, ValueType>> = {
  mocks: { is: 'map', of: MOCK, anyKeys: true },
  real: TEXTS,
  credentials: { is: 'map', of: TEXT, anyKeys: true },
};
const ANSWER = about('node', { by: TEXT, comment: TEXT, form: VALUE });
const SIGNAL = about('name', { payload: VALUE, key: VALUE });
const SETTLE = record(
  'settle',
  'settle',
  { node: TEXT, happened: either(BOOLEAN, { is: 'choice', of: ['retry', 'fail'] }), output: VALUE },
  { node: 'node: charge', happened: 'happened: true, happened: retry or happened: fail' },
);
const NODES: ValueType = { is: 'list', of: TEXT, orOne: true };
const MIGRATE = either(
  BOOLEAN,
  record('migrate', 'migrate', {
    to: { is: 'integer', min: 1, max: 1_000_000 },
    keep: NODES,
    again: NODES,
    drop: NODES,
  }),
);
const STEP = record('step', 'a step', {
  advance: DURATION,
  signal: SIGNAL,
  publish: SIGNAL,
  approve: ANSWER,
  reject: ANSWER,
  callback: about('node', { payload: VALUE }),
  cancel: either(BOOLEAN, TEXT, record('cancel', 'cancel', { node: TEXT, reason: TEXT, compensate: BOOLEAN })),
  pause: VALUE,
  resume: VALUE,
  retry: VALUE,
  replay: about('node', { input: VALUE }),
  migrate: MIGRATE,
  migrateBack: VALUE,
  crash: VALUE,
  settle: SETTLE,
  expect: EXPECT,
  in: { is: 'list', of: TEXT, orOne: true },
});
/** `- crash` is short for `- crash: true`. */
const SHORT_STEP: ValueType = {
  is: 'choice',
  of: ['cancel', 'pause', 'resume', 'retry', 'migrate', 'migrateBack', 'crash'],
};
const TEST = record(
  'test',
  'a test',
  {
    name: TEXT,
    input: VALUE,
    ...SHARED,
    until: TEXT,
    steps: { is: 'list', of: either(SHORT_STEP, STEP) },
    expect: EXPECT,
    crashes: BOOLEAN,
  },
  { name: 'name: pays once' },
);
const FILE = recordOf(
  'file',
  'a test file',
  { workflow: TEXT, workflows: TEXTS, versions: TEXTS, ...SHARED, tests: { is: 'list', of: TEST } },
  { workflow: 'workflow: order.yaml', tests: 'tests: [{ name: it works }]' },
);

const RULES = { file: checkTests, mock: checkMock, step: checkStep, settle: checkSettle };

function checkTests({ value: { tests }, report }: RuleContext): void {
  if (!Array.isArray(tests) || tests.length > 0) return;
  const hint = 'add: tests: [{ name: it works }]';
  report({ code: 'MISSING_KEY', message: 'the file has no tests', hint, path: ['tests'], at: 'key' });
}

function checkMock({ value, meant, report }: RuleContext): void {
  const kinds = ['output', 'error', 'sequence', 'hang'].filter((key) => Object.hasOwn(value, key));
  if (kinds.length !== 1 && meant.size === 0) {
    const message = kinds.length === 0 ? 'the mock has no answer' : `${kinds.join(' and ')} exclude each other`;
    report({ code: 'MOCK_INVALID', message, hint: 'set one of output, error, sequence and hang', at: 'key' });
  }
  if (!Array.isArray(value.sequence) || value.sequence.length > 0) return;
  const hint = 'write: sequence: [{ error: BUSY }, { output: 1 }]';
  report({ code: 'MOCK_INVALID', message: 'a sequence has no answers', hint, path: ['sequence'] });
}

function checkStep({ value: { in: _, ...verbs }, report }: RuleContext): void {
  if (Object.keys(verbs).length === 1) return;
  const hint = 'make each key a list item of its own';
  report({ code: 'STEP_INVALID', message: 'a step has one key', hint, at: 'value' });
}

function checkSettle({ value: { happened }, report }: RuleContext): void {
  if (happened !== false) return;
  const hint = 'write happened: retry, or happened: fail';
  report({ code: 'WRONG_VALUE', message: "'happened' says how to go on", hint, path: ['happened'] });
}

export function readTestFile(text: string): ReadTestFile {
  const { value, problems, source } = readDocument(text, FILE, RULES);
  return { file: value && fileOf(value as unknown as WrittenFile, source), problems, text };
}

/** The file as the tables above accept it. */
interface WrittenFile extends WrittenShared {
  readonly workflow: string;
  readonly workflows?: readonly string[];
  readonly versions?: readonly string[];
  readonly tests: readonly WrittenTest[];
}

interface WrittenShared {
  readonly mocks?: Readonly<Record<string, WrittenMock>>;
  readonly real?: readonly string[];
  readonly credentials?: Readonly<Record<string, string>>;
}

interface WrittenTest extends WrittenShared, Pick<TestCase, 'name' | 'until'> {
  readonly input?: Json;
  readonly steps?: readonly (string | JsonObject)[];
  readonly expect?: JsonObject;
  readonly crashes?: boolean;
}

interface WrittenMock {
  readonly output?: Json;
  readonly error?: string | (Parameters<typeof fail>[1] & { readonly code?: string });
  readonly sequence?: readonly WrittenMock[];
  readonly after?: string;
  readonly hang?: boolean;
}

function fileOf(file: WrittenFile, source: SourceMap): TestFile {
  const { workflow, workflows = [], versions = [], tests } = file;
  return { workflow, workflows, versions, tests: tests.map((test, at) => testOf(test, ['tests', at], file, source)) };
}

function testOf(test: WrittenTest, path: DocumentPath, shared: WrittenShared, source: SourceMap): TestCase {
  const { name, until, input, steps = [], crashes = false } = test;
  const mocks = Object.entries({ ...shared.mocks, ...test.mocks }).map(([key, mock]) => [key, mockOf(mock)]);
  return {
    name,
    range: source.rangeOf([...path, 'name']),
    input: input ?? {},
    mocks: Object.fromEntries(mocks),
    real: [...(shared.real ?? []), ...(test.real ?? [])],
    credentials: { ...shared.credentials, ...test.credentials },
    ...(until !== undefined && { until }),
    steps: steps.map((step, at) => stepOf(step, [...path, 'steps', at], source)),
    expect: expectationOf(test.expect ?? {}, [...path, 'expect'], source),
    crashes,
  };
}

function mockOf({ after: duration, ...answer }: WrittenMock): Mock {
  return duration === undefined ? answerOf(answer) : after(duration, answerOf(answer));
}

function answerOf({ output = null, error, sequence: answers, hang: hangs }: WrittenMock): Mock {
  if (hangs === true) return hang();
  if (typeof error === 'string') return fail(error);
  if (error !== undefined) {
    const { code = 'ACTION_FAILED', ...options } = error;
    return fail(code, options);
  }
  return answers === undefined ? output : sequence(answers.map(mockOf));
}

function stepOf(step: string | JsonObject, path: DocumentPath, source: SourceMap): Step {
  const { in: inside = [], ...members } = typeof step === 'string' ? { [step]: true } : step;
  const [[verb, value]] = Object.entries(members) as [[string, Json]];
  const at = typeof step === 'string' ? path : [...path, verb];
  return {
    ...actionOf(verb, value, at, source),
    in: typeof inside === 'string' ? [inside] : (inside as readonly string[]),
    range: source.rangeOf(at, 'key'),
  };
}

function actionOf(verb: string, value: Json, path: DocumentPath, source: SourceMap): StepAction {
  const members = (main: string): JsonObject => (isJsonObject(value) ? value : { [main]: value });
  switch (verb) {
    case 'advance':
      return { do: verb, duration: String(value) };
    case 'signal':
    case 'publish': {
      const { key, ...named } = members('name');
      return { do: verb, payload: null, ...named, ...(key !== undefined && { key: String(key) }) } as StepAction;
    }
    case 'callback':
      return { do: verb, payload: null, ...members('node') } as StepAction;
    case 'approve':
    case 'reject':
    case 'replay':
      return { do: verb, ...members('node') } as StepAction;
    case 'cancel':
      return { do: verb, options: typeof value === 'boolean' ? {} : members('reason') };
    case 'migrate': {
      const { to, ...nodes } = members('to');
      const lists = Object.entries(nodes).map(([how, one]) => [how, [one].flat()]);
      return { do: verb, options: { ...Object.fromEntries(lists), ...(typeof to === 'number' && { to }) } };
    }
    case 'pause':
      return { do: verb, ...(typeof value === 'string' && { reason: value }) };
    case 'settle': {
      const { node, happened, output = null } = members('node');
      const settlement = happened === true ? { happened, output } : { happened: false, then: happened };
      return { do: verb, node: String(node), settlement: settlement as Settlement };
    }
    case 'expect':
      return { do: verb, expect: expectationOf(value as JsonObject, path, source) };
    default:
      return { do: verb } as StepAction;
  }
}

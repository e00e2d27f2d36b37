/** Reads a `*.test.yaml` file: the runs and their expectations, or all problems of the file. */
import {
  type DocumentPath,
  isJsonObject,
  type Json,
  type Problem,
  parseDuration,
  type SourceRange,
} from '@nebula/core';
import type { Settlement } from '@nebula/core/run';
import { after, fail, hang, type Mock, sequence } from '../mock.ts';
import type { CancelOptions } from '../test-run.ts';
import { describe, TestDocument } from './document.ts';
import { type Expectation, readExpectation } from './expectation.ts';

export interface TestFile {
  /** Relative to the file, as written. */
  readonly workflow: string;
  readonly workflows: readonly string[];
  readonly tests: readonly TestCase[];
}

export interface TestCase {
  readonly name: string;
  readonly place: SourceRange | undefined;
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

/** Settings of the file that apply to all its tests. */
type Shared = Pick<TestCase, 'mocks' | 'real' | 'credentials'>;

export type Step = StepAction & {
  readonly place: SourceRange | undefined;
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
  | { readonly do: 'resume' | 'retry' | 'crash' }
  | { readonly do: 'replay'; readonly node: string; readonly input?: Json }
  | { readonly do: 'settle'; readonly node: string; readonly settlement: Settlement }
  | { readonly do: 'expect'; readonly expect: Expectation };

export interface ReadTestFile {
  /** Present exactly when there are no problems. */
  readonly file: TestFile | undefined;
  readonly problems: readonly Problem[];
  readonly text: string;
}

const FILE_KEYS = ['workflow', 'workflows', 'mocks', 'real', 'credentials', 'tests'];
const TEST_KEYS = ['name', 'input', 'mocks', 'real', 'credentials', 'until', 'steps', 'expect', 'crashes'];
const MOCK_KEYS = ['output', 'error', 'sequence', 'after', 'hang'];
const STEP_KEYS = [
  'advance',
  'signal',
  'publish',
  'approve',
  'reject',
  'callback',
  'cancel',
  'pause',
  'resume',
  'retry',
  'replay',
  'crash',
  'settle',
  'expect',
];

export function readTestFile(text: string): ReadTestFile {
  const document = new TestDocument(text);
  if (document.value === undefined) return { file: undefined, problems: document.problems, text };
  const reader = new Reader(document);
  const file = reader.file(document.value);
  return { file: document.problems.length === 0 ? file : undefined, problems: document.problems, text };
}

class Reader {
  private readonly document: TestDocument;

  constructor(document: TestDocument) {
    this.document = document;
  }

  file(value: Json): TestFile {
    const { document } = this;
    const members = document.members(value, [], 'a test file', FILE_KEYS);
    const workflow = document.textAt(members.workflow, ['workflow'], 'workflow') ?? '';
    if (members.workflow === undefined) {
      document.report([], 'MISSING_KEY', 'the file names no workflow', 'add: workflow: order.yaml', 'key');
    }
    const shared: Shared = {
      mocks: this.mocks(members.mocks, ['mocks']),
      real: document.texts(members.real, ['real'], 'real'),
      credentials: this.credentials(members.credentials, ['credentials']),
    };
    const tests = document.list(members.tests, ['tests'], 'tests');
    if (tests.length === 0 && document.problems.length === 0) {
      document.report(['tests'], 'MISSING_KEY', 'the file has no tests', 'add: tests: [{ name: it works }]', 'key');
    }
    return {
      workflow,
      workflows: document.texts(members.workflows, ['workflows'], 'workflows'),
      tests: tests.map((test, at) => this.test(test, ['tests', at], shared)),
    };
  }

  private test(value: Json, path: DocumentPath, shared: Shared): TestCase {
    const { document } = this;
    const members = document.members(value, path, 'a test', TEST_KEYS);
    const name = document.textAt(members.name, [...path, 'name'], 'name');
    if (members.name === undefined && Object.keys(members).every((key) => TEST_KEYS.includes(key)))
      document.report(path, 'MISSING_KEY', 'the test has no name', 'add: name: what the test shows');
    const steps = document.list(members.steps, [...path, 'steps'], 'steps');
    const until = document.textAt(members.until, [...path, 'until'], 'until');
    return {
      name: name ?? '',
      place: document.rangeOf(members.name === undefined ? path : [...path, 'name']),
      input: members.input ?? {},
      mocks: { ...shared.mocks, ...this.mocks(members.mocks, [...path, 'mocks']) },
      real: [...shared.real, ...document.texts(members.real, [...path, 'real'], 'real')],
      credentials: { ...shared.credentials, ...this.credentials(members.credentials, [...path, 'credentials']) },
      ...(until !== undefined && { until }),
      steps: steps.flatMap((step, at) => this.step(step, [...path, 'steps', at]) ?? []),
      expect: readExpectation(document, members.expect, [...path, 'expect']),
      crashes: document.flag(members.crashes, [...path, 'crashes'], 'crashes') ?? false,
    };
  }

  private credentials(value: Json | undefined, path: DocumentPath): Record<string, string> {
    if (value === undefined) return {};
    if (!isJsonObject(value)) {
      this.document.wrongType(path, 'credentials', 'a mapping from secret names to values', value);
      return {};
    }
    const named = Object.entries(value).map(([name, text]) => {
      return [name, this.document.textAt(text as Json, [...path, name], name) ?? ''] as const;
    });
    return Object.fromEntries(named);
  }

  private mocks(value: Json | undefined, path: DocumentPath): Record<string, Mock> {
    if (value === undefined) return {};
    if (!isJsonObject(value)) {
      this.document.wrongType(path, 'mocks', 'a mapping of actions or nodes', value);
      return {};
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, mock]) => [key, this.mock(mock as Json, [...path, key])]),
    );
  }

  private mock(value: Json, path: DocumentPath): Mock {
    const { document } = this;
    const members = document.members(value, path, 'a mock', MOCK_KEYS);
    const kinds = ['output', 'error', 'sequence', 'hang'].filter((key) => Object.hasOwn(members, key));
    const isSpeltRight = Object.keys(members).every((key) => MOCK_KEYS.includes(key));
    if (kinds.length !== 1 && isJsonObject(value) && isSpeltRight) {
      const message = kinds.length === 0 ? 'the mock has no answer' : `${kinds.join(' and ')} exclude each other`;
      document.report(path, 'MOCK_INVALID', message, 'set one of output, error, sequence and hang', 'key');
    }
    const answer = this.answer(members, path);
    if (members.after === undefined) return answer;
    const duration = this.duration(members.after, [...path, 'after']);
    return duration === undefined ? answer : after(duration, answer);
  }

  private answer(members: Readonly<Record<string, Json>>, path: DocumentPath): Mock {
    const { output = null, error, sequence: answers, hang: hangs } = members;
    if (hangs === true) return hang();
    if (error !== undefined) return this.failure(error, [...path, 'error']);
    if (answers === undefined) return output;
    const list = this.document.list(answers, [...path, 'sequence'], 'sequence');
    if (list.length === 0) {
      this.document.report(
        [...path, 'sequence'],
        'MOCK_INVALID',
        'a sequence has no answers',
        'write: sequence: [{ error: BUSY }, { output: 1 }]',
      );
      return null;
    }
    return sequence(list.map((item, at) => this.mock(item, [...path, 'sequence', at])));
  }

  private failure(value: Json, path: DocumentPath): Mock {
    if (typeof value === 'string') return fail(value);
    const members = this.document.members(value, path, 'an error', ['code', 'kind', 'message', 'details']);
    const code = this.document.textAt(members.code, [...path, 'code'], 'code') ?? 'ACTION_FAILED';
    const message = this.document.textAt(members.message, [...path, 'message'], 'message');
    if (members.kind !== undefined && members.kind !== 'USER' && members.kind !== 'SYSTEM') {
      this.document.report(
        [...path, 'kind'],
        'WRONG_VALUE',
        `kind must be USER or SYSTEM, not ${describe(members.kind)}`,
      );
    }
    return fail(code, {
      ...(message !== undefined && { message }),
      ...((members.kind === 'SYSTEM' || members.kind === 'USER') && { kind: members.kind }),
      ...(members.details !== undefined && { details: members.details }),
    });
  }

  private duration(value: Json, path: DocumentPath): string | undefined {
    const text = this.document.textAt(value, path, 'a duration');
    if (text === undefined) return undefined;
    const parsed = parseDuration(text);
    if (typeof parsed === 'number') return text;
    this.document.report(path, 'BAD_DURATION', parsed.message, parsed.hint);
    return undefined;
  }

  private step(value: Json, path: DocumentPath): Step | undefined {
    const { document } = this;
    // `- crash` is short for `- crash: true`.
    const written = typeof value === 'string' ? { [value]: true } : value;
    const { in: of, ...members } = document.members(written, path, 'a step', [...STEP_KEYS, 'in']);
    const [verb, ...more] = Object.keys(members);
    if (more.length > 0)
      document.report(path, 'STEP_INVALID', 'a step has one key', 'make each key a list item of its own');
    if (verb === undefined || !STEP_KEYS.includes(verb)) return undefined;
    const at = typeof value === 'string' ? path : [...path, verb];
    const step = this.stepOf(verb, members[verb] as Json, at);
    const inside = document.texts(typeof of === 'string' ? [of] : of, [...path, 'in'], 'in');
    return step && { ...step, in: inside, place: document.rangeOf(at, 'key') };
  }

  private stepOf(verb: string, value: Json, path: DocumentPath): StepAction | undefined {
    const { document } = this;
    switch (verb) {
      case 'advance': {
        const duration = this.duration(value, path);
        return duration === undefined ? undefined : ({ do: 'advance', duration } as StepAction);
      }
      case 'signal':
      case 'publish': {
        const { name, payload = null, key } = this.about(value, path, 'name', ['payload', 'key']);
        return { do: verb, name: String(name), payload, ...(key !== undefined && { key: String(key) }) } as StepAction;
      }
      case 'approve':
      case 'reject': {
        const about = this.about(value, path, 'node', ['by', 'comment', 'form']);
        return { do: verb, ...about } as StepAction;
      }
      case 'callback': {
        const { node, payload = null } = this.about(value, path, 'node', ['payload']);
        return { do: 'callback', node, payload } as StepAction;
      }
      case 'cancel':
        return { do: 'cancel', options: this.cancel(value, path) };
      case 'replay':
        return { do: 'replay', ...this.about(value, path, 'node', ['input']) } as StepAction;
      case 'pause':
        return { do: verb, ...(typeof value === 'string' && { reason: value }) } as StepAction;
      case 'resume':
      case 'retry':
      case 'crash':
        return { do: verb } as StepAction;
      case 'settle':
        return this.settle(value, path);
      default:
        return { do: 'expect', expect: readExpectation(document, value, path) } as StepAction;
    }
  }

  private cancel(value: Json, path: DocumentPath): CancelOptions {
    const { document } = this;
    if (value === true) return {};
    if (typeof value === 'string') return { reason: value };
    const { compensate, ...members } = document.members(value, path, 'cancel', ['node', 'reason', 'compensate']);
    const node = document.textAt(members.node, [...path, 'node'], 'node');
    const reason = document.textAt(members.reason, [...path, 'reason'], 'reason');
    const isUndone = document.flag(compensate, [...path, 'compensate'], 'compensate');
    return {
      ...(node !== undefined && { node }),
      ...(reason !== undefined && { reason }),
      ...(isUndone !== undefined && { compensate: isUndone }),
    };
  }

  private settle(value: Json, path: DocumentPath): StepAction {
    const { node, happened, output = null } = this.about(value, path, 'node', ['happened', 'output']);
    const settlement =
      happened === true
        ? { happened, output }
        : ({ happened: false, then: happened === 'fail' ? 'fail' : 'retry' } as const);
    if (happened !== true && happened !== 'retry' && happened !== 'fail') {
      this.document.report(
        path,
        'WRONG_VALUE',
        "settle needs the key 'happened'",
        'write: settle: { node: charge, happened: true, output: … }, or happened: retry, or happened: fail',
      );
    }
    return { do: 'settle', node, settlement } as StepAction;
  }

  /** `approve: ok` is short for `approve: { node: ok }`. */
  private about(value: Json, path: DocumentPath, main: string, others: readonly string[]): Record<string, Json> {
    if (typeof value === 'string') return { [main]: value };
    const members = this.document.members(value, path, 'this step', [main, ...others]);
    if (isJsonObject(value) && typeof members[main] !== 'string') {
      this.document.report(path, 'MISSING_KEY', `the step needs the key '${main}'`, `add: ${main}: …`, 'key');
    }
    return members;
  }
}

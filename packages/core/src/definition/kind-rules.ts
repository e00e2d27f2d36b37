/** Checks which keys are allowed on which kind of node, and rules between the keys of each kind. */

import { isJsonObject, type Json, type JsonObject } from '../value.ts';
import { NODE } from './node-keys.ts';
import type { Finding } from './problem-list.ts';
import type { RecordType } from './value-type.ts';

/** The input and output of a rule about the keys of a record. */
export interface RuleContext {
  readonly record: RecordType;
  readonly value: JsonObject;
  /** Keys that are present under a misspelt name. */
  readonly meant: ReadonlySet<string>;
  readonly workflow: JsonObject;
  /** Paths are relative to the record. */
  report(finding: Finding): void;
  warn(finding: Finding): void;
}

export const LOOP_KINDS: readonly string[] = ['forEach', 'while', 'retryUntil'];

/** Kinds that run an attempt or a body and therefore take time. */
const LASTING = ['action', 'dynamic', 'workflow', ...LOOP_KINDS, 'group', 'wait', 'split'];
const WHOLES = ['action', 'dynamic', 'workflow', 'group'];

/** Keys that only some kinds allow, with the alternative to suggest. */
const FITTING: Readonly<Record<string, { readonly kinds: readonly string[]; readonly hint: string }>> = {
  do: { kinds: LOOP_KINDS, hint: `a body belongs to ${LOOP_KINDS.join(', ')}` },
  with: { kinds: ['action', 'terminate'], hint: 'parameters belong to an action' },
  timeout: { kinds: [...LASTING, 'branch', 'set', 'terminate'], hint: "use 'timeout' of merge: { wait, timeout }" },
  effect: { kinds: ['action', 'dynamic'], hint: 'put it on the node that runs the action' },
  capabilities: { kinds: ['action', 'dynamic'], hint: 'put it on the node that runs the action' },
  credentials: { kinds: WHOLES, hint: 'put it on the node that runs the action' },
  cache: { kinds: ['action', 'dynamic'], hint: 'put it on the node that runs the action' },
  rateLimit: { kinds: ['action', 'dynamic'], hint: 'put it on the node that runs the action' },
  labels: { kinds: ['action', 'dynamic'], hint: 'put it on the node that runs the action' },
  compensate: { kinds: WHOLES, hint: 'put it on the nodes that have something to undo' },
  concurrency: { kinds: LASTING, hint: 'remove it: the node takes no time' },
};

const HINTS: Readonly<Record<string, string>> = {
  'with dynamic': 'put it into dynamic: { action, with }',
  'with workflow': "use 'input' of workflow: { id, input }",
  'with set': 'put the values into set',
};

/** Keys that need a separate run; with an inline workflow, they belong on its nodes. */
const CHILD_ONLY = ['compensate', 'credentials'];

export function checkKindKeys({ value, meant, report }: RuleContext, kind: string): void {
  for (const key of Object.keys(value)) {
    const fitting = Object.hasOwn(FITTING, key) ? FITTING[key] : undefined;
    if (fitting === undefined) continue;
    const isInline = kind === 'workflow' && CHILD_ONLY.includes(key) && !isChild(value.workflow);
    if (fitting.kinds.includes(kind) && !isInline) continue;
    report({
      code: 'MISPLACED_KEY',
      message: `'${key}' has no meaning on ${isInline ? 'an inline workflow' : `a ${kind} node`}`,
      hint: isInline
        ? `put it on the nodes of that workflow, or use mode: child`
        : (HINTS[`${key} ${kind}`] ?? fitting.hint),
      path: [key],
      at: 'key',
    });
  }
  if (LOOP_KINDS.includes(kind) && !Object.hasOwn(value, 'do') && !meant.has('do')) {
    const hint = `add it, e.g. ${NODE.keys.do?.example}`;
    report({ code: 'MISSING_BODY', message: `a ${kind} node must have a body`, hint, path: [kind], at: 'key' });
  }
}

function isChild(workflow: Json | undefined): boolean {
  if (!isJsonObject(workflow)) return false;
  const { mode, plan } = workflow;
  return mode === 'child' || plan !== undefined;
}

export function checkTerminate({ value, report }: RuleContext): void {
  const given = value.with;
  if (!isJsonObject(given)) return;
  const wanted = value.terminate === 'failed' ? 'error' : 'output';
  for (const key of Object.keys(given)) {
    if (key === wanted) continue;
    const isOther = key === 'output' || key === 'error';
    report({
      code: 'MISPLACED_KEY',
      message: isOther
        ? `'${key}' does not fit terminate: ${String(value.terminate)}`
        : `unknown key '${key}' in the 'with' of terminate`,
      hint: `a run that is ${wanted === 'error' ? 'failed has an error' : 'completed has an output'}: with: { ${wanted}: … }`,
      path: ['with', key],
      at: 'key',
    });
  }
}

const TESTS = ['when', 'match', 'error'];

export function checkBranch({ value, report }: RuleContext): void {
  const { cases } = value;
  const isList = Array.isArray(cases);
  if (!isList && !isJsonObject(cases)) return;
  if (Object.keys(cases).length === 0) {
    const hint = 'add a case, e.g. cases: { paid: ship }';
    report({ code: 'NO_CASES', message: 'the branch has no cases', hint, path: ['cases'], at: 'key' });
  }
  if (isList) return;
  if (!Object.hasOwn(value, 'on')) {
    const hint = 'add the value to compare them with, e.g. on: $order.status';
    report({ code: 'MISSING_ON', message: "cases by value need the key 'on'", hint, at: 'key' });
  }
  if (value.many === true) {
    const hint = 'remove it, or write cases as a list with when';
    report({
      code: 'MISPLACED_KEY',
      message: "'many' has no meaning when cases are a mapping by value",
      hint,
      path: ['many'],
      at: 'key',
    });
  }
}

export function checkCase({ value, meant, report }: RuleContext): void {
  const tests = TESTS.filter((key) => Object.hasOwn(value, key));
  const [first, second] = tests;
  if (first === undefined) {
    if (TESTS.some((key) => meant.has(key))) return;
    const hint = "add when, match or error; for the fallback, use the branch's default";
    report({ code: 'MISSING_TEST', message: 'the case has no test', hint, at: 'key' });
  } else if (second !== undefined) {
    const message = `a case has one test, but this one has ${tests.map((key) => `'${key}'`).join(' and ')}`;
    report({ code: 'SEVERAL_TESTS', message, hint: 'combine them in one when', path: [second], at: 'key' });
  }
}

export function checkForEach({ value, report, warn }: RuleContext): void {
  if (Object.hasOwn(value, 'maxConcurrency') && value.parallel !== true) {
    const hint = 'add parallel: true, or remove it';
    warn({
      code: 'UNUSED_KEY',
      message: "'maxConcurrency' has no meaning in a loop that is not parallel",
      hint,
      path: ['maxConcurrency'],
      at: 'key',
    });
  }
  const { in: items, minSuccess } = value;
  if (Array.isArray(items) && typeof minSuccess === 'number' && minSuccess > items.length) {
    const message = `'minSuccess' is ${minSuccess}, but there are ${items.length} items`;
    report({ code: 'TOO_FEW_ITEMS', message, path: ['minSuccess'] });
  }
}

const WAITS = ['for', 'until', 'signal', 'approval', 'callback', 'any'];

export function checkWait({ record, value, meant, report }: RuleContext): void {
  const forms = WAITS.filter((key) => Object.hasOwn(value, key));
  const known = record.name === 'wait' ? WAITS : WAITS.slice(0, -1);
  if (forms.length === 0 && !WAITS.some((key) => meant.has(key))) {
    const hint = `add one of ${known.join(', ')}, e.g. for: 10s`;
    report({ code: 'MISSING_WAIT', message: 'the wait has no condition', hint, at: 'key' });
  }
  const [first, second] = forms;
  if (second !== undefined) {
    const message = `a wait has one condition, but this one has ${forms.map((key) => `'${key}'`).join(' and ')}`;
    const hint = `to wait for whichever occurs first, write any: [{ ${first}: … }, { ${second}: … }]`;
    report({ code: 'SEVERAL_WAITS', message, hint, path: [second], at: 'key' });
  }
  for (const key of ['key', 'schema']) {
    if (!Object.hasOwn(value, key) || Object.hasOwn(value, 'signal')) continue;
    const message = `'${key}' has no meaning in a wait without 'signal'`;
    report({ code: 'MISPLACED_KEY', message, hint: 'remove it', path: [key], at: 'key' });
  }
  if (typeof value.signal === 'string' && value.signal.includes('{{')) {
    const message = 'the name of a signal is plain text and cannot contain expressions';
    report({ code: 'BAD_SIGNAL', message, hint: "put the variable part into 'key'", path: ['signal'] });
  }
  if (value.callback === false) {
    const hint = 'write callback: true, or remove it';
    report({ code: 'MISSING_WAIT', message: 'callback: false waits for nothing', hint, path: ['callback'] });
  }
  if (Array.isArray(value.any) && value.any.length === 0) {
    const hint = 'add at least one condition, e.g. any: [{ for: 10s }]';
    report({ code: 'MISSING_WAIT', message: "'any' is empty, so the wait would never end", hint, path: ['any'] });
  }
}

export function checkStart({ value, report }: RuleContext): void {
  const isDebounce = value.policy === 'debounce';
  if (isDebounce === Object.hasOwn(value, 'window')) return;
  report(
    isDebounce
      ? {
          code: 'MISSING_WINDOW',
          message: "the policy debounce needs the key 'window'",
          hint: 'add e.g. window: 10s',
          at: 'key',
        }
      : {
          code: 'MISPLACED_KEY',
          message: "'window' applies only to the policy debounce",
          hint: 'remove it',
          path: ['window'],
          at: 'key',
        },
  );
}

export function checkSubWorkflow({ value, meant, report }: RuleContext): void {
  const has = (key: string): boolean => Object.hasOwn(value, key);
  const isPlan = has('plan');
  if (!isPlan && !has('id') && !meant.has('id') && !meant.has('plan')) {
    const hint = 'add it, e.g. id: order-fulfilment; or name a launch plan: plan: nightly';
    report({ code: 'MISSING_KEY', message: "workflow must have the key 'id'", hint, at: 'key' });
  }
  const misplaced = (key: string, message: string, hint: string): void =>
    report({ code: 'MISPLACED_KEY', message, hint, path: [key], at: 'key' });
  if (isPlan && has('id'))
    misplaced('id', "'id' and 'plan' exclude each other", 'the launch plan names the workflow: remove id');
  if (isPlan && has('version')) {
    misplaced(
      'version',
      "'version' has no meaning with a launch plan",
      'remove it: the launch plan selects the version',
    );
  }
  if (isPlan && value.mode === 'inline') {
    misplaced('mode', 'a launch plan cannot be inlined', 'remove mode: a launch plan always starts a separate run');
  }
  if ((isPlan || value.mode === 'child') && has('isolation')) {
    const what = isPlan ? 'a launch plan' : 'mode: child';
    misplaced(
      'isolation',
      `'isolation' has no meaning with ${what}`,
      'remove it: a separate run has its own variables',
    );
  }
}

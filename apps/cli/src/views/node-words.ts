/** Describes a node in a few words: `for each of $.order.items, 10 at once`. */
import { isJsonObject, type Json, type NodeDefinition, type NodeKind } from '@nebula/core';

type BranchDefinition = NonNullable<NodeDefinition['branch']>;
type WaitDefinition = NonNullable<NodeDefinition['wait']>;
type OneWaitDefinition = NonNullable<WaitDefinition['any']>[number];

/** One sign per kind, for narrow views; actions have none. */
export const KIND_SIGNS: Readonly<Record<NodeKind, string>> = {
  action: '',
  branch: '◇',
  forEach: '↻',
  while: '↻',
  retryUntil: '↻',
  group: '▣',
  workflow: '▣',
  dynamic: '▣',
  wait: '⧖',
  set: '≔',
  terminate: '■',
  split: '↻',
  merge: '',
};

const KINDS = Object.keys(KIND_SIGNS) as NodeKind[];

export function kindOf(node: NodeDefinition): NodeKind {
  return KINDS.find((kind) => node[kind] !== undefined) ?? 'action';
}

export function nodeWords(node: NodeDefinition): string {
  switch (kindOf(node)) {
    case 'action':
      return node.action ?? '';
    case 'branch':
      return branchWords(node.branch as BranchDefinition);
    case 'forEach':
      return forEachWords(node);
    case 'while':
      return `↻ while ${expressionText(node.while?.condition ?? null)}`;
    case 'retryUntil':
      return retryUntilWords(node);
    case 'group':
      return '▣ group';
    case 'workflow':
      return `▣ workflow ${node.workflow?.id}${node.workflow?.mode === 'child' ? ', a run of its own' : ''}`;
    case 'dynamic':
      return `▣ graph of ${node.dynamic?.action}`;
    case 'wait':
      return `⧖ wait ${waitWords(node.wait as WaitDefinition)}`;
    case 'set':
      return `≔ ${Object.keys(node.set ?? {}).join(', ')}`;
    case 'terminate':
      return `■ end the run: ${node.terminate}`;
    case 'split':
      return `↻ for each of ${expressionText(node.split?.in ?? null)}`;
    case 'merge':
      return node.merge?.wait === 'any' ? 'the first of them' : 'all of them, in order';
  }
}

function branchWords({ on, many }: BranchDefinition): string {
  const what = on === undefined ? '◇ branch' : `◇ ${expressionText(on)}`;
  return many === true ? `${what}, every case that fits` : what;
}

function forEachWords({ forEach }: NodeDefinition): string {
  const items = `↻ for each of ${expressionText(forEach?.in ?? null)}`;
  if (forEach?.parallel !== true) return items;
  return `${items}, ${forEach.maxConcurrency ?? 10} at once`;
}

function retryUntilWords({ retryUntil }: NodeDefinition): string {
  const until = retryUntil?.until === undefined ? 'until it succeeds' : `until ${expressionText(retryUntil.until)}`;
  return `↻ ${until}, at most ${retryUntil?.attempts}×`;
}

function waitWords(wait: WaitDefinition): string {
  const one = wait.any === undefined ? oneWaitWords(wait) : wait.any.map(oneWaitWords).join(' or ');
  return wait.deadline === undefined ? one : `${one}, at most ${expressionText(wait.deadline)}`;
}

function oneWaitWords(wait: OneWaitDefinition): string {
  if (wait.for !== undefined) return expressionText(wait.for);
  if (wait.until !== undefined) return `until ${expressionText(wait.until)}`;
  if (wait.signal !== undefined) return `for signal ${wait.signal}`;
  if (wait.approval === undefined) return 'for a call';
  const { who } = wait.approval;
  return who === undefined ? 'for an approval' : `for an approval by ${[who].flat().join(' or ')}`;
}

/** An expression as people wrote it, without the braces. */
function expressionText(value: Json): string {
  if (typeof value === 'string') return value.replace(/^\{\{\s*|\s*\}\}$/g, '');
  return Array.isArray(value) ? listText(value) : JSON.stringify(value);
}

const MAX_LISTED = 40;

function listText(list: readonly Json[]): string {
  const text = JSON.stringify(list);
  return text.length <= MAX_LISTED ? text : `${list.length} items`;
}

/** Shows `{ code: CARD_DECLINED }` by its value. */
export function conditionText(value: Json): string {
  if (!isJsonObject(value)) return expressionText(value);
  const parts = Object.entries(value).map(([key, part]) => {
    const text = typeof part === 'string' ? part : JSON.stringify(part);
    return key === 'code' ? text : `${key} ${text}`;
  });
  return parts.join(', ');
}

/** The conditions under which a branch leads to a node, one text per case. */
export function casesTo(branch: BranchDefinition, target: string): string[] {
  const leads = (to: string | readonly string[] | undefined): boolean =>
    to !== undefined && [to].flat().includes(target);
  const found: string[] = [];
  if (Array.isArray(branch.cases)) {
    for (const one of branch.cases) {
      if (!leads(one.to)) continue;
      if (one.when !== undefined) found.push(expressionText(one.when));
      else if (one.error !== undefined) found.push(`error ${conditionText(one.error)}`);
      else found.push(conditionText(one.match ?? null));
    }
  } else {
    for (const [key, to] of Object.entries(branch.cases)) if (leads(to as string)) found.push(key);
  }
  if (leads(branch.default)) found.push('otherwise');
  return found;
}

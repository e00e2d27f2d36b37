/** Compiles the roots of access chains: the names of the scope. */
import { clipped, didYouMean } from '../problem.ts';
import type { Json } from '../value.ts';
import { readMember } from './access.ts';
import { ExpressionError, quoted, type Span } from './expression-error.ts';
import { foreignMeaning } from './foreign-names.ts';
import type { Frame, Run } from './frame.ts';
import { type NodeMember, RESERVED_ROOTS } from './reference.ts';
import type { LoopView, NodeView, Scope } from './scope.ts';
import type { Root } from './syntax.ts';

export function compileRoot(source: string, root: Root, at: Span): Run {
  switch (root.from) {
    case 'input':
      return (frame) => frame.scope.input;
    case 'trigger':
      return (frame) => frame.scope.trigger;
    case 'vars':
      return (frame) => frame.scope.vars;
    case 'execution':
      return (frame) => frame.scope.execution;
    case 'workflow':
      return (frame) => frame.scope.workflow;
    case 'item':
      return (frame) => loopOf(frame, at).item;
    case 'index':
      return (frame) => loopOf(frame, at).index;
    case 'items':
      return (frame) => loopOf(frame, at).items;
    case 'previous':
      return (frame) => previousOf(frame, at);
    case 'parent': {
      const { level, member } = root;
      return (frame) => outerLoop(loopOf(frame, at), level, at)[member];
    }
    case 'self': {
      const read = readerOf(root.member);
      return (frame) => {
        if (frame.scope.self !== undefined) return read(frame.scope.self, '$self', at);
        throw unknown(
          '$self is not available here',
          at,
          'it refers to the node itself, in compensate and in the output of a workflow node',
        );
      };
    }
    case 'node': {
      const { id } = root;
      const short = !source.startsWith('$nodes', at.offset);
      const read = readerOf(root.member);
      return (frame) => {
        const node = frame.scope.node(id);
        if (node === undefined) throw unknownNode(frame.scope, id, short, at);
        return read(node, id, at);
      };
    }
  }
}

function readerOf(member: NodeMember): (node: NodeView, id: string, at: Span) => Json {
  switch (member) {
    case 'output':
    case 'result':
      return (node) => node.output;
    case 'status':
      return (node) => node.status;
    case 'success':
      return (node) => node.success;
    case 'error':
      return (node) => node.error as Json;
    case 'attempts':
      return (node) => node.attempts;
    case 'input':
      return (node) => node.input;
    case 'callbackUrl':
      return (node, id, at) => {
        if (node.callbackUrl !== undefined) return node.callbackUrl;
        throw unknown(
          `'${id}' has no callbackUrl`,
          at,
          'only a node with `wait: { callback: true }` has a callbackUrl',
        );
      };
  }
}

/** In a definition from before `$previous` existed, it is the node of that id where no iteration precedes. */
function previousOf(frame: Frame, at: Span): Json {
  const previous = frame.scope.loop?.previous;
  if (previous !== undefined) return previous;
  const node = frame.scope.node('previous');
  return node === undefined ? (loopOf(frame, at).previous ?? null) : node.output;
}

function loopOf(frame: Frame, at: Span): LoopView {
  if (frame.scope.loop !== undefined) return frame.scope.loop;
  throw unknown(
    'there is no enclosing loop',
    at,
    '$item, $index, $items and $previous are available in the body of a loop',
  );
}

function outerLoop(loop: LoopView, level: number, at: Span): LoopView {
  let outer: LoopView | undefined = loop;
  for (let step = 0; step < level; step++) outer = outer?.parent;
  if (outer !== undefined) return outer;
  throw unknown(
    `there are fewer than ${level + 1} enclosing loops`,
    at,
    'the innermost loop is $item, $index and $items',
  );
}

function unknownNode(scope: Scope, id: string, short: boolean, at: Span): ExpressionError {
  const meant = didYouMean(id, [...(scope.nodeIds?.() ?? []), ...(short ? RESERVED_ROOTS : [])]);
  const foreign = short && meant === undefined ? foreignMeaning(id) : undefined;
  if (foreign !== undefined) return unknown(`there is no $${clipped(id)}`, at, foreign);
  const hint = meant === undefined ? undefined : `did you mean ${short ? `$${meant}` : `$nodes['${meant}']`}?`;
  const message = `there is no node ${quoted(id)} to refer to here`;
  return unknown(message, at, hint ?? (short ? elsewhere(scope, id) : undefined));
}

/** Suggests a member of the input or a variable of the same name, which is often meant by `$name`. */
function elsewhere(scope: Scope, name: string): string | undefined {
  if (readMember(scope.input, name) !== undefined) return `did you mean $input.${name}?`;
  return readMember(scope.vars, name) === undefined ? undefined : `did you mean $vars.${name}?`;
}

function unknown(message: string, at: Span, hint: string | undefined): ExpressionError {
  return new ExpressionError('EXPRESSION_REFERENCE', message, { at, ...(hint === undefined ? {} : { hint }) });
}

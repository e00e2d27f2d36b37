/** Parses access chains: root, steps and the resulting references. */
import { clipped, didYouMean } from '../problem.ts';
import { syntaxError } from './characters.ts';
import { ExpressionError, quoted } from './expression-error.ts';
import { parseEmbeddedQuery } from './jsonpath/parse.ts';
import { type Query, singularPrefix } from './jsonpath/query.ts';
import type { CallParser } from './parse-call.ts';
import { LOOP_MEMBERS, NODE_MEMBERS, type NodeMember, type ReferenceDraft } from './reference.ts';
import type { SourceReader } from './source-reader.ts';
import type { ChainSyntax, Root, Step, Syntax } from './syntax.ts';

/** A chain under construction. Only a chain that starts with `$` has a reference. */
interface OpenChain {
  readonly root: Syntax;
  readonly steps: Step[];
  readonly reference: ReferenceDraft | undefined;
}

const SIMPLE_ROOTS = [
  'input',
  'trigger',
  'vars',
  'execution',
  'workflow',
  'item',
  'index',
  'items',
  'previous',
] as const;

export class ChainParser {
  private readonly reader: SourceReader;
  private readonly calls: CallParser;
  private readonly expression: () => Syntax;
  private readonly primary: () => Syntax;

  constructor(reader: SourceReader, calls: CallParser, expression: () => Syntax, primary: () => Syntax) {
    this.reader = reader;
    this.calls = calls;
    this.expression = expression;
    this.primary = primary;
  }

  /** Parses a value and the access steps that follow it. */
  parse(): Syntax {
    const { reader } = this;
    let chain: OpenChain =
      reader.lexer.kind === 'dollar' ? this.fromDollar() : { root: this.primary(), steps: [], reference: undefined };
    let defaults = 0;
    for (;;) {
      const { start } = reader.lexer;
      if (reader.isSign('.') || reader.isSign('?.')) {
        const optional = reader.takeSign('?.');
        if (!optional) reader.lexer.advance();
        if (optional && reader.isSign('[')) {
          chain.steps.push(this.index(start, true));
          continue;
        }
        const name = this.memberName();
        if (!reader.isSign('(')) {
          chain.steps.push({ kind: 'member', key: name.text, optional, guarded: false, ...reader.span(start) });
        } else if (name.text === 'default') {
          // Each `default` wraps everything before it, so it adds a nesting level until the chain ends.
          reader.nesting.enter(start);
          defaults++;
          chain = { root: this.withDefault(chain, name.start), steps: [], reference: undefined };
        } else {
          const call = this.calls.method(name.text, name.start);
          chain.steps.push({ kind: 'call', ...call, optional, guarded: false, ...reader.span(start) });
        }
      } else if (reader.isSign('[')) {
        chain.steps.push(this.index(start, false));
      } else {
        for (; defaults > 0; defaults--) reader.nesting.leave();
        return this.close(chain);
      }
    }
  }

  /** `x.default(y)` is `x ?? y`. */
  private withDefault(chain: OpenChain, start: number): Syntax {
    const { args } = this.calls.method('default', start);
    const left = this.close(chain);
    guardWithDefault(left);
    return { kind: 'coalesce', operands: [left, args[0] as Syntax], ...this.reader.span(left.offset) };
  }

  private close({ root, steps: read, reference }: OpenChain): Syntax {
    if (read.length === 0 && reference === undefined) return root;
    const steps = read.map((step, index) => (read[index + 1]?.optional === true ? { ...step, guarded: true } : step));
    const chain: ChainSyntax = {
      kind: 'chain',
      root,
      steps,
      reference,
      lenient: false,
      offset: root.offset,
      length: endOf(steps.at(-1) ?? root) - root.offset,
    };
    if (reference !== undefined) completeReference(reference, steps);
    return chain;
  }

  private memberName(): { readonly text: string; readonly start: number } {
    const { kind, text, start } = this.reader.lexer;
    if (kind !== 'name') throw this.reader.unexpected('expected the name of a member');
    this.reader.lexer.advance();
    return { text, start };
  }

  private index(start: number, optional: boolean): Step {
    const { reader } = this;
    reader.expectSign('[');
    const index = this.expression();
    const end = reader.expectSign(']');
    const span = { optional, guarded: false, offset: start, length: end - start };
    const key = index.kind === 'literal' ? index.value : null;
    if (typeof key === 'string' || (typeof key === 'number' && Number.isInteger(key))) {
      return { kind: 'member', key, ...span };
    }
    return { kind: 'index', index, ...span };
  }

  private fromDollar(): OpenChain {
    const { lexer } = this.reader;
    const { text, start } = lexer;
    if (text === '') return this.query(start);
    lexer.advance();
    const simple = SIMPLE_ROOTS.find((name) => name === text);
    if (simple !== undefined) return this.open({ from: simple }, { kind: simple }, start);
    if (text === 'nodes') return this.node(start);
    if (text === 'self') {
      const member = this.nodeMember('$self');
      return this.open({ from: 'self', member }, { kind: 'self', path: [member] }, start);
    }
    if (text === 'parent') return this.parent(start);
    return this.open(
      { from: 'node', id: text, member: 'output' },
      { kind: 'node', id: text, member: 'output', path: ['output'] },
      start,
    );
  }

  private open(
    root: Root,
    facts: Partial<ReferenceDraft> & { kind: ReferenceDraft['kind'] },
    start: number,
  ): OpenChain {
    const span = this.reader.span(start);
    const reference: ReferenceDraft = { path: [], optional: false, ...facts, ...span };
    this.reader.references.push(reference);
    return { root: { kind: 'root', root, ...span }, steps: [], reference };
  }

  private node(start: number): OpenChain {
    const id = this.staticMember();
    if (id === undefined) {
      throw syntaxError('$nodes needs the id of a node', start, 6, `write $nodes.id.output or $nodes['my-id'].output`);
    }
    const member = this.nodeMember(`$nodes${/^[A-Za-z_]\w*$/.test(id) ? `.${clipped(id)}` : `['${clipped(id)}']`}`);
    return this.open({ from: 'node', id, member }, { kind: 'node', id, member, path: [member] }, start);
  }

  private nodeMember(node: string): NodeMember {
    const { reader } = this;
    const { start } = reader.lexer;
    const name = this.staticMember();
    const member = NODE_MEMBERS.find((known) => known === name);
    if (member !== undefined) return member;
    if (name === undefined) {
      const hint = reader.isSign('-') ? `an id with a hyphen is written $nodes['my-id']` : `write ${node}.output`;
      throw new ExpressionError('EXPRESSION_REFERENCE', `${node} needs a member: ${NODE_MEMBERS.join(', ')}`, {
        at: { offset: start, length: 1 },
        hint,
      });
    }
    const meant = didYouMean(name, NODE_MEMBERS);
    throw new ExpressionError('EXPRESSION_REFERENCE', `a node has no member ${quoted(name)}`, {
      at: reader.span(start),
      hint: `did you mean ${node}.${meant ?? `output.${clipped(name)}`}?`,
    });
  }

  /** Parses `.name` or `['name']`; returns undefined, without consuming anything, when something else follows. */
  private staticMember(): string | undefined {
    const { reader } = this;
    if (reader.takeSign('.') || reader.takeSign('?.')) {
      if (!reader.isSign('[')) return this.memberName().text;
    }
    if (!reader.isSign('[')) return undefined;
    const { start } = reader.lexer;
    const step = this.index(start, false);
    if (step.kind === 'member' && typeof step.key === 'string') return step.key;
    throw syntaxError('this name must be a literal', start, step.length, `for example $nodes['my-id'].output`);
  }

  private parent(start: number): OpenChain {
    for (let level = 1; ; level++) {
      const memberStart = this.reader.lexer.start;
      const name = this.staticMember();
      if (name === 'parent') continue;
      if (name === 'item' || name === 'index' || name === 'items') {
        return this.open({ from: 'parent', level, member: name }, { kind: 'parent', level, path: [name] }, start);
      }
      const meant = name === undefined ? undefined : didYouMean(name, LOOP_MEMBERS);
      throw new ExpressionError('EXPRESSION_REFERENCE', `$parent needs a member: ${LOOP_MEMBERS.join(', ')}`, {
        at: { offset: memberStart, length: 1 },
        hint: `did you mean $parent.${meant ?? (name === undefined ? 'item' : `item.${clipped(name)}`)}?`,
      });
    }
  }

  private query(start: number): OpenChain {
    const { reader } = this;
    const query = parseEmbeddedQuery(reader.source, start, reader.nesting);
    reader.lexer.advance(start + query.length);
    if (query.singular !== undefined) return this.singularQuery(query, query.singular);
    const { offset, length } = query;
    // A query that finds nothing is not an error, so its reference counts as guarded.
    reader.references.push({ kind: 'input', path: singularPrefix(query.segments), optional: true, offset, length });
    if (reader.isSign('[')) {
      const hint = `write (${reader.source.slice(offset, offset + length)})[…] for an element of the list`;
      throw syntaxError('a computed index cannot follow a query that returns a list', reader.lexer.start, 1, hint);
    }
    return { root: { kind: 'query', query, offset, length }, steps: [], reference: undefined };
  }

  /** A singular query is member access on the input, with the same errors and speed. */
  private singularQuery(query: Query, path: readonly (string | number)[]): OpenChain {
    const span = { offset: query.offset, length: 1 };
    const reference: ReferenceDraft = { kind: 'input', path: [], optional: false, ...span };
    this.reader.references.push(reference);
    const steps = path.map((key, index): Step => {
      const { offset, length } = query.segments[index] as Query['segments'][number];
      return { kind: 'member', key, optional: false, guarded: false, offset, length };
    });
    return { root: { kind: 'root', root: { from: 'input' }, ...span }, steps, reference };
  }
}

/** Marks the left side of `??`, where a missing member is null. Descends to the starts of chains. */
export function guardWithDefault(syntax: Syntax): void {
  if (syntax.kind !== 'chain') return;
  syntax.lenient = true;
  if (syntax.reference !== undefined) syntax.reference.optional = true;
  guardWithDefault(syntax.root);
}

function completeReference(reference: ReferenceDraft, steps: readonly Step[]): void {
  const path = [...reference.path];
  let end = reference.offset + reference.length;
  for (const step of steps) {
    if (step.kind !== 'member') break;
    path.push(step.key);
    end = endOf(step);
    if (step.optional || step.guarded) reference.optional = true;
  }
  reference.path = path;
  reference.length = end - reference.offset;
}

function endOf(span: { readonly offset: number; readonly length: number }): number {
  return span.offset + span.length;
}

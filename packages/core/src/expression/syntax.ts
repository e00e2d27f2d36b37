/** The syntax tree. Chains of operators and of access steps are flat, so depth is real nesting. */
import type { Json } from '../value.ts';
import type { Span } from './expression-error.ts';
import type { Query } from './jsonpath/query.ts';
import type { Callee } from './library/definition.ts';
import type { NodeMember, ReferenceDraft } from './reference.ts';

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';
export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'contains';

/** The start of an access chain in the scope. */
export type Root =
  | { readonly from: 'input' | 'trigger' | 'vars' | 'execution' | 'workflow' | 'item' | 'index' | 'items' | 'previous' }
  | { readonly from: 'node'; readonly id: string; readonly member: NodeMember }
  | { readonly from: 'self'; readonly member: NodeMember }
  | { readonly from: 'parent'; readonly level: number; readonly member: 'item' | 'index' | 'items' };

export type Syntax = Span &
  (
    | { readonly kind: 'literal'; readonly value: Json }
    | { readonly kind: 'list'; readonly items: readonly ListItem[] }
    | { readonly kind: 'object'; readonly members: readonly ObjectMember[] }
    | { readonly kind: 'root'; readonly root: Root }
    | { readonly kind: 'local'; readonly name: string; readonly slot: number }
    | { readonly kind: 'query'; readonly query: Query }
    | ChainSyntax
    | { readonly kind: 'unary'; readonly operator: '!' | '-'; readonly operand: Syntax }
    | { readonly kind: 'arithmetic'; readonly first: Syntax; readonly rest: readonly ArithmeticTerm[] }
    | {
        readonly kind: 'comparison';
        readonly operator: ComparisonOperator;
        readonly left: Syntax;
        readonly right: Syntax;
      }
    | { readonly kind: 'logic'; readonly operator: '&&' | '||'; readonly operands: readonly Syntax[] }
    | { readonly kind: 'coalesce'; readonly operands: readonly Syntax[] }
    | {
        readonly kind: 'conditional';
        readonly branches: readonly { readonly test: Syntax; readonly then: Syntax }[];
        readonly otherwise: Syntax;
      }
    | { readonly kind: 'call'; readonly callee: Callee; readonly args: readonly Argument[] }
  );

export interface ListItem {
  readonly spread: boolean;
  readonly value: Syntax;
}

/** A text key is static, a syntax key is computed; without a key, the value is spread. */
export interface ObjectMember {
  readonly key: string | Syntax | undefined;
  readonly value: Syntax;
}

interface ArithmeticTerm {
  readonly operator: ArithmeticOperator;
  readonly operand: Syntax;
}

export interface ChainSyntax extends Span {
  readonly kind: 'chain';
  readonly root: Syntax;
  readonly steps: readonly Step[];
  /** The reference of a chain that starts in the scope; undefined for other chains. */
  readonly reference: ReferenceDraft | undefined;
  /** On the left of `??`: a missing member is null. The parser sets this when it reaches the `??`. */
  lenient: boolean;
}

/**
 * The span of a step reaches from its dot or bracket to its end. A step is optional when written with `?.`, and guarded
 * when the next step is: in `a.b?.c`, `b` may be missing as well as `c`.
 */
export type Step = Span & { readonly optional: boolean; readonly guarded: boolean } & (
    | { readonly kind: 'member'; readonly key: string | number }
    | { readonly kind: 'index'; readonly index: Syntax }
    | { readonly kind: 'call'; readonly callee: Callee; readonly args: readonly Argument[] }
  );

export interface LambdaSyntax extends Span {
  readonly kind: 'lambda';
  readonly firstSlot: number;
  readonly arity: number;
  readonly body: Syntax;
}

export type Argument = Syntax | LambdaSyntax;

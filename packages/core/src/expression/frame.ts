/** The state of one evaluation: scope, budget and the values of lambda parameters. */
import type { Json } from '../value.ts';
import type { Budget } from './budget.ts';
import type { Scope } from './scope.ts';

export class Frame {
  readonly scope: Scope;
  readonly budget: Budget;
  /**
   * Every lambda parameter of the expression has its own slot. Lambdas cannot be recursive, so a slot is never needed
   * twice at once, and calling a lambda allocates nothing.
   */
  readonly locals: Json[];

  constructor(scope: Scope, budget: Budget, locals: Json[]) {
    this.scope = scope;
    this.budget = budget;
    this.locals = locals;
  }
}

/** A compiled part of an expression. */
export type Run = (frame: Frame) => Json;

/** A compiled lambda. It is not a value: only library functions receive one. */
export class Lambda {
  private readonly firstSlot: number;
  private readonly arity: number;
  private readonly body: Run;

  constructor(firstSlot: number, arity: number, body: Run) {
    this.firstSlot = firstSlot;
    this.arity = arity;
    this.body = body;
  }

  call(frame: Frame, first: Json, second?: Json, third?: Json): Json {
    const { locals } = frame;
    const { arity, firstSlot } = this;
    if (arity > 0) locals[firstSlot] = first;
    if (arity > 1) locals[firstSlot + 1] = second as Json;
    if (arity > 2) locals[firstSlot + 2] = third as Json;
    return this.body(frame);
  }
}

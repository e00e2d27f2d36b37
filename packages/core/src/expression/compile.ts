/** Compiles syntax to closures, once per plan, so that evaluation consists of calls only. */
import { unreachable } from '../error.ts';
import { isJsonObject, type Json, setMember } from '../value.ts';
import { type Compilation, compilePlainCall } from './compile-call.ts';
import { compileChain } from './compile-chain.ts';
import { typeError } from './expression-error.ts';
import type { Run } from './frame.ts';
import { compileQuery } from './jsonpath/select.ts';
import { describe } from './kind.ts';
import { addMembers } from './library/object.ts';
import {
  compileArithmetic,
  compileCoalesce,
  compileComparison,
  compileConditional,
  compileLogic,
  compileNegation,
  compileNot,
} from './operators.ts';
import type { ListItem, ObjectMember, Syntax } from './syntax.ts';

export class Compiler implements Compilation {
  readonly source: string;
  builds = false;

  constructor(source: string) {
    this.source = source;
  }

  compile(syntax: Syntax): Run {
    switch (syntax.kind) {
      case 'literal': {
        const { value } = syntax;
        return () => value;
      }
      case 'chain':
        return compileChain(this, syntax);
      case 'root':
      case 'local':
        return compileChain(this, {
          ...syntax,
          kind: 'chain',
          root: syntax,
          steps: [],
          reference: undefined,
          lenient: false,
        });
      case 'query': {
        this.builds = true;
        const select = compileQuery(syntax.query);
        return (frame) => {
          frame.budget.spend(1);
          return select(frame.scope.input, frame.budget);
        };
      }
      case 'list':
        return this.compileList(syntax.items);
      case 'object':
        return this.compileObject(syntax.members);
      case 'unary': {
        const operand = this.compile(syntax.operand);
        return syntax.operator === '-' ? compileNegation(operand, syntax) : compileNot(operand);
      }
      case 'arithmetic': {
        const terms = syntax.rest.map(({ operator, operand }) => ({ operator, operand: this.compile(operand) }));
        return compileArithmetic(this.compile(syntax.first), terms, syntax);
      }
      case 'comparison':
        return compileComparison(syntax.operator, this.compile(syntax.left), this.compile(syntax.right), syntax);
      case 'logic':
        return compileLogic(syntax.operator, this.compileAll(syntax.operands));
      case 'coalesce':
        return compileCoalesce(this.compileAll(syntax.operands));
      case 'conditional': {
        const branches = syntax.branches.map(({ test, then }) => ({
          test: this.compile(test),
          then: this.compile(then),
        }));
        return compileConditional(branches, this.compile(syntax.otherwise));
      }
      case 'call':
        return compilePlainCall(this, syntax.callee, syntax.args, syntax);
      default:
        return unreachable(syntax);
    }
  }

  compileLambdaBody(syntax: Syntax): Run {
    const body = this.compile(syntax);
    if (syntax.kind !== 'literal') return body;
    return (frame) => {
      frame.budget.spend(1);
      return body(frame);
    };
  }

  private compileAll(list: readonly Syntax[]): readonly Run[] {
    return list.map((syntax) => this.compile(syntax));
  }

  private compileList(items: readonly ListItem[]): Run {
    this.builds = true;
    const parts = items.map(({ spread, value }) => ({ spread, run: this.compile(value), at: value }));
    return (frame) => {
      frame.budget.spend(1);
      const list: Json[] = [];
      for (const { spread, run, at } of parts) {
        const value = run(frame);
        if (!spread) {
          list.push(value);
          continue;
        }
        if (!Array.isArray(value))
          throw typeError(`only a list can be spread into a list, not ${describe(value)}`).locate(at);
        frame.budget.allowList(list.length + value.length);
        for (const item of value) list.push(item);
      }
      return frame.budget.list(list);
    };
  }

  private compileObject(members: readonly ObjectMember[]): Run {
    this.builds = true;
    const parts = members.map(({ key, value }) => ({
      name: typeof key === 'string' ? key : undefined,
      computed: typeof key === 'object' ? { run: this.compile(key), at: key } : undefined,
      run: this.compile(value),
      at: value,
    }));
    return (frame) => {
      frame.budget.spend(1);
      const object: Record<string, Json> = {};
      for (const { name, computed, run, at } of parts) {
        if (name !== undefined) {
          setMember(object, name, run(frame));
        } else if (computed !== undefined) {
          const key = computed.run(frame);
          if (typeof key !== 'string')
            throw typeError(`the name of a member is a string, not ${describe(key)}`).locate(computed.at);
          setMember(object, key, run(frame));
        } else {
          const value = run(frame);
          if (!isJsonObject(value))
            throw typeError(`only an object can be spread into an object, not ${describe(value)}`).locate(at);
          addMembers(frame, object, value);
        }
      }
      return object;
    };
  }
}

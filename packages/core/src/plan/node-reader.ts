/** Compiles the values of one node, checks their references and records which nodes they read. */
import type { NodeDefinition } from '../definition/model.ts';
import type { CompiledValue } from '../expression/index.ts';
import type { DocumentPath } from '../problem.ts';
import type { Json } from '../value.ts';
import type { CompileContext } from './context.ts';
import type { NodeRead } from './plan.ts';
import { distinctReads, type References, type Site } from './references.ts';
import type { GraphScope } from './scope.ts';
import type { ValueCompiler } from './value-compiler.ts';

export interface NodeParts {
  readonly id: string;
  readonly index: number;
  readonly definition: NodeDefinition;
  readonly path: DocumentPath;
  readonly context: CompileContext;
  readonly scope: GraphScope;
  readonly references: References;
  /** The number of bodies that enclose the node's graph. */
  readonly depth: number;
  /** Whether a failure of the node counts as success. */
  ignoresErrors(node: number): boolean;
  /** The failure node runs after everything else and may read every node. */
  readonly isLast: boolean;
}

type More = { readonly self?: boolean; readonly after?: boolean; readonly betweenIterations?: boolean };

export class NodeReader {
  readonly parts: NodeParts;
  readonly values: ValueCompiler;
  private readonly collected: NodeRead[] = [];

  constructor(parts: NodeParts) {
    this.parts = parts;
    this.values = parts.context.values.forPart();
  }

  get catalog(): CompileContext['catalog'] {
    return this.parts.context.catalog;
  }

  get problems(): CompileContext['problems'] {
    return this.parts.context.problems;
  }

  get reads(): readonly NodeRead[] {
    return distinctReads(this.collected);
  }

  /** Compiles a value whose strings may contain expressions. `keys` lead from the node to the value. */
  value(raw: Json, keys: DocumentPath, more?: More): CompiledValue;
  value(raw: Json | undefined, keys: DocumentPath, more?: More): CompiledValue | undefined;
  value(raw: Json | undefined, keys: DocumentPath, more: More = {}): CompiledValue | undefined {
    return this.valueAt(raw, [...this.parts.path, ...keys], more);
  }

  /** Compiles a value at another document path that this node reads. */
  valueAt(raw: Json, path: DocumentPath, more?: More): CompiledValue;
  valueAt(raw: Json | undefined, path: DocumentPath, more?: More): CompiledValue | undefined;
  valueAt(raw: Json | undefined, path: DocumentPath, more: More = {}): CompiledValue | undefined {
    return this.checked(this.values.value(raw, path), path, more);
  }

  /** Compiles a value in which a string is an expression. */
  condition(raw: Json, keys: DocumentPath, more?: More): CompiledValue;
  condition(raw: Json | undefined, keys: DocumentPath, more?: More): CompiledValue | undefined;
  condition(raw: Json | undefined, keys: DocumentPath, more: More = {}): CompiledValue | undefined {
    if (raw === undefined) return undefined;
    const path = [...this.parts.path, ...keys];
    return this.checked(this.values.condition(raw, path), path, more);
  }

  /** Records a read that no expression shows. */
  addRead(read: NodeRead): void {
    this.collected.push(read);
  }

  error(code: string, message: string, hint: string, keys: DocumentPath, at?: 'key'): void {
    this.parts.context.problems.error({ code, message, hint, path: [...this.parts.path, ...keys], ...(at && { at }) });
  }

  warning(code: string, message: string, hint: string, keys: DocumentPath, at?: 'key'): void {
    this.parts.context.problems.warning({
      code,
      message,
      hint,
      path: [...this.parts.path, ...keys],
      ...(at && { at }),
    });
  }

  private checked(value: CompiledValue | undefined, path: DocumentPath, more: More): CompiledValue | undefined {
    if (value === undefined || value.references.length === 0) return value;
    const kind = this.parts.isLast ? 'output' : more.after ? 'after' : 'node';
    const site: Site = { ...more, kind, node: this.parts.index };
    this.collected.push(...this.parts.references.check(value, path, site));
    return value;
  }
}

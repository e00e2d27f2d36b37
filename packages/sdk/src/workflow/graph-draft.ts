/**
 * A graph under construction.
 *
 *  1. An id is used once.
 *  2. A node reads only nodes that are visible from its position: those of its own graph and of enclosing graphs.
 *  3. Reading a node of an enclosing graph counts as a read by the composite node there.
 *  4. Edges implied by reads are added at the end, when all explicit edges are known.
 *  5. The nodes between a split and its merge are written like a body, share ids with the enclosing graph and finally
 *     become part of it.
 */
import type { EdgeDefinition, Json, JsonObject, JsonSchema, NodeDefinition, WorkflowDefinition } from '@nebula/core';
import { idsInOrder, isJsonObject, writtenOrder } from '@nebula/core/authoring';
import { type NodeAddress, sourceOf } from './expression.ts';
import { type Arrow, impliedNeeds } from './implied-needs.ts';
import { addressOf, type Before, Handle } from './node-handle.ts';
import { invalid, type RenderScope, renderValue } from './render.ts';
import { objectSchema } from './schema-path.ts';

/** The state of a branch until the targets of its cases are known. */
export interface BranchDraft {
  /** The test of each case, for cases in a list; undefined when cases are keyed by the value of `on`. */
  readonly tests: ReadonlyMap<string, JsonObject> | undefined;
  readonly targets: Map<string | null, string[]>;
  readonly head: JsonObject;
}

/** The nodes between a split and its merge. */
export interface RegionDraft {
  readonly nodes: ReadonlyMap<string, Json>;
  readonly edges: readonly EdgeDefinition[];
  /** The predecessors of the merge: the last nodes of an iteration, or the split itself when its region is empty. */
  readonly ends: readonly string[];
  /** The schema of an iteration's result, as far as known. */
  readonly round: JsonSchema;
  merge: NodeDraft | undefined;
}

export class NodeDraft implements NodeAddress {
  readonly id: string;
  readonly graph: GraphDraft;
  readonly reads = new Set<string>();
  readonly needs: string[] = [];
  definition: JsonObject = {};
  branch: BranchDraft | undefined;
  /** Set for a split. */
  region: RegionDraft | undefined;
  /** Set for a merge. */
  split: NodeDraft | undefined;

  constructor(id: string, graph: GraphDraft) {
    this.id = id;
    this.graph = graph;
  }

  /** The position of this node's values. */
  scope(special: Partial<Pick<RenderScope, 'loops' | 'self'>> = {}): RenderScope {
    const { graph } = this;
    const read = (node: NodeAddress) => {
      if (node === this || node === this.split) return;
      // Only the iterations lead into a merge, so its split takes over its reads.
      if (node.graph === graph) (this.split ?? this).reads.add(node.id);
      else graph.readOutside(node);
    };
    return { workflow: graph.workflow, loops: graph.loops, ...special, read };
  }
}

export class GraphDraft {
  /** Identifies the workflow: the same object in all its graphs. */
  readonly workflow: object;
  readonly around: GraphDraft | undefined;
  /** Innermost first. */
  readonly loops: readonly object[];
  readonly nodes = new Map<string, NodeDraft>();
  readonly edges: EdgeDefinition[] = [];
  readonly #ids: Set<string>;
  readonly #outside = new Set<NodeAddress>();
  /** The failure node has no edges and may read every node. */
  failureNode: string | undefined;

  /** `isRegion`: the graph is between a split and its merge. */
  constructor(workflow: object, around?: GraphDraft, loop?: object, isRegion = false) {
    this.workflow = workflow;
    this.around = around;
    this.loops = loop === undefined ? (around?.loops ?? []) : [loop, ...(around?.loops ?? [])];
    this.#ids = isRegion && around !== undefined ? around.#ids : new Set();
  }

  add(id: string): NodeDraft {
    if (typeof id !== 'string')
      throw invalid(`the id of a node is ${typeof id}`, "use a string as id: w.node('fetch', …)");
    if (this.#ids.has(id)) throw invalid(`there are two nodes '${id}'`, 'give one of them another id');
    this.#ids.add(id);
    const node = new NodeDraft(id, this);
    this.nodes.set(id, node);
    return node;
  }

  readOutside(node: NodeAddress): void {
    for (let graph = this.around; graph !== undefined; graph = graph.around) {
      if (graph === node.graph) {
        this.#outside.add(node);
        return;
      }
    }
    const isInside = node.graph instanceof GraphDraft && node.graph.workflow === this.workflow;
    throw isInside
      ? invalid(
          `'${node.id}' is in the body of a loop and cannot be read outside of it`,
          'read the output of the loop or of the merge',
        )
      : invalid(`'${node.id}' is a node of another workflow`, 'pass its output as input');
  }

  /** Adds edges from the given nodes to `node`. */
  comesAfter(node: NodeDraft, before: readonly Before[]): void {
    for (const one of before) this.link(one, node.id, {});
  }

  link(from: Before, to: string, options: JsonObject): void {
    const source = this.draftOf(from);
    if (source.region !== undefined && options.on !== 'error') {
      throw invalid(
        `'${to}' comes after the split '${source.id}'`,
        'write the nodes that run per item in its function, and let other nodes need the merge',
      );
    }
    if ('case' in from && typeof from.case !== 'function') {
      const targets = source.branch?.targets ?? new Map<string | null, string[]>();
      targets.set(from.case, [...(targets.get(from.case) ?? []), to]);
      if (Object.keys(options).length > 0) {
        throw invalid(`the edge from '${source.id}' to '${to}' is a case`, 'the edge of a case cannot have conditions');
      }
    } else if (Object.keys(options).length > 0) {
      this.edges.push({ from: source.id, to, ...options });
    } else {
      const { needs } = this.nodes.get(to) as NodeDraft;
      if (!needs.includes(source.id)) needs.push(source.id);
    }
  }

  draftOf(handle: object): NodeDraft {
    const address = addressOf(handle);
    if (address === undefined) throw invalid('this is not a node', 'pass the result of w.node()');
    if (address.graph !== this) throw invalid(`'${address.id}' is not in the same graph`, 'edges cannot leave a body');
    return address as NodeDraft;
  }

  /** Returns the complete body; reads of enclosing graphs become reads of `holder`. */
  finish(output: unknown, holder?: RenderScope): { body: JsonObject; schema: JsonSchema } {
    const value = output instanceof Handle ? output.output : output;
    if (value instanceof Promise)
      throw invalid('the function is asynchronous', 'define the workflow without await: it is data');
    const read = (node: NodeAddress) => (node.graph === this ? undefined : this.readOutside(node));
    const scope: RenderScope = { workflow: this.workflow, loops: this.loops, read };
    const rendered = value === undefined ? undefined : renderValue(value, scope, 'output');
    const nodes = this.#nodeDefinitions();
    const order = writtenOrder([...nodes.keys()]);
    for (const node of this.#outside) this.#passOn(node, holder);
    const edges = [...this.edges, ...this.#regions().flatMap((region) => region.edges)];
    return {
      body: {
        nodes: Object.fromEntries(nodes),
        ...(order !== undefined && { order: [...order] }),
        ...(edges.length > 0 && { edges: edges as unknown as Json }),
        ...(rendered !== undefined && { output: rendered }),
      },
      schema: schemaOf(value),
    };
  }

  /** The nodes that a split adds to the enclosing graph; `given` are the nodes that lead to the merge. */
  finishRegion(split: NodeDraft, given: unknown, item: JsonSchema): RegionDraft {
    const { body } = this.finish(undefined, split.scope());
    const { nodes = {}, edges = [], order } = body as unknown as Pick<WorkflowDefinition, 'nodes' | 'edges' | 'order'>;
    const isEntered = new Set(edges.map(({ to }) => to));
    for (const { branch } of this.nodes.values()) {
      for (const id of [...(branch?.targets.values() ?? [])].flat()) isEntered.add(id);
    }
    const entered = new Map<string, Json>();
    for (const id of idsInOrder({ nodes, ...(order && { order }) })) {
      const node = nodes[id] as NodeDefinition;
      const isFirst = node.needs === undefined && !isEntered.has(id);
      entered.set(id, (isFirst ? { needs: [split.id], ...node } : node) as unknown as Json);
    }
    const ends = this.#endsOf(given);
    return {
      nodes: entered,
      edges,
      ends: ends === undefined ? [split.id] : [...ends.values()].map((node) => this.draftOf(node).id),
      round: ends === undefined ? item : iterationSchema(ends),
      merge: undefined,
    };
  }

  /** Keyed by id; undefined when no node was returned. */
  #endsOf(given: unknown): ReadonlyMap<string, Handle> | undefined {
    if (given === undefined) return undefined;
    if (given instanceof Handle && this.draftOf(given).region === undefined) return new Map([[given.id, given]]);
    const named = isJsonObject(given) && !(given instanceof Handle) ? Object.entries(given as object) : [];
    const ends = named.filter((one): one is [string, Handle] => one[1] instanceof Handle && one[1].id === one[0]);
    if (ends.length > 1 && ends.length === named.length) return new Map(ends);
    throw invalid(
      'the function of a split must return the last nodes of an iteration',
      'return the node before the merge, or several nodes by id: { ask, look }',
    );
  }

  #regions(): RegionDraft[] {
    return [...this.nodes.values()].flatMap(({ region }) => region ?? []);
  }

  #passOn(node: NodeAddress, holder: RenderScope | undefined): void {
    if (this.nodes.has(node.id)) {
      throw invalid(`'${node.id}' is read in a body that has a node with the same id`, 'give one of them another id');
    }
    holder?.read(node);
  }

  #nodeDefinitions(): Map<string, Json> {
    const { needs, unclear } = this.#implied();
    const [first] = unclear;
    if (first !== undefined) {
      throw invalid(
        `'${first.node}' runs conditionally and reads '${first.reads}', which does not run before the condition`,
        `let the deciding node need '${first.reads}', or write needs: [${first.reads}] if that alone is enough to run`,
      );
    }
    const definitions = new Map<string, Json>();
    for (const node of this.nodes.values()) {
      if (node.region !== undefined && node.region.merge === undefined) {
        throw invalid(`no merge follows the split '${node.id}'`, `add w.merge('merged', ${node.id})`);
      }
      const all = new Set([...node.needs, ...(needs.get(node.id) ?? [])].flatMap((id) => this.#wayFrom(id, node)));
      const branch = node.branch && { branch: branchDefinition(node.branch) };
      definitions.set(node.id, { ...(all.size > 0 && { needs: [...all] }), ...node.definition, ...branch });
      for (const [id, inner] of node.region?.nodes ?? []) definitions.set(id, inner);
    }
    return definitions;
  }

  /** Successors of a split are its iterations; nodes after them come after its merge. */
  #wayFrom(id: string, to: NodeDraft): readonly string[] {
    const region = this.nodes.get(id)?.region;
    if (region?.merge === undefined) return [id];
    return region.merge === to ? region.ends : [region.merge.id];
  }

  #implied(): ReturnType<typeof impliedNeeds> {
    const arrows: Arrow[] = this.edges.map(({ from, to, on = 'success', when }) => ({
      from,
      to,
      isPlain: on === 'success' && when === undefined,
    }));
    const reads = new Map<string, ReadonlySet<string>>();
    for (const node of this.nodes.values()) {
      arrows.push(...node.needs.map((from) => ({ from, to: node.id, isPlain: true })));
      for (const target of [...(node.branch?.targets.values() ?? [])].flat()) {
        arrows.push({ from: node.id, to: target, isPlain: false });
      }
      if (node.id !== this.failureNode) reads.set(node.id, node.reads);
    }
    return impliedNeeds([...this.nodes.keys()], arrows, reads);
  }
}

function branchDefinition({ tests, targets, head }: BranchDraft): JsonObject {
  const to = (name: string | null): Json => {
    const ids = targets.get(name) ?? [];
    return ids.length === 1 ? (ids[0] as string) : ids;
  };
  const named = [...targets.keys()].filter((name) => name !== null);
  // A case without targets is still taken: without it, another case would be.
  const cases: Json =
    tests === undefined
      ? Object.fromEntries(named.map((name) => [name, to(name)]))
      : [...tests].map(([name, test]) => ({ ...test, to: to(name) }));
  return { ...head, cases, ...(targets.has(null) && { default: to(null) }) };
}

function iterationSchema(ends: ReadonlyMap<string, Handle>): JsonSchema {
  const [only, ...others] = ends.values();
  if (only !== undefined && others.length === 0) return schemaOf(only.output);
  return objectSchema(Object.fromEntries([...ends].map(([id, { output }]) => [id, schemaOf(output)])));
}

/** The schema of a written value, as far as known. */
function schemaOf(value: unknown): JsonSchema {
  const source = sourceOf(value);
  if (source !== undefined) return source.kind === 'path' && !source.isNullable ? source.schema : true;
  if (typeof value === 'string') return { type: 'string' };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  return objectSchema(Object.fromEntries(Object.entries(value).map(([key, member]) => [key, schemaOf(member)])));
}

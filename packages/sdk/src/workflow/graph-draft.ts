/**
 * A graph while it is written.
 *
 * 1. An id is taken once. 2. A node reads only what can be seen from where it is: its own graph and those around it.
 * 3. Reading a node of a graph around it is reading by the composite node there. 4. Edges that follow from reading are
 *    added at the end, when all of the author's own are known. 5. What lies between a split and its merge is written as a
 *    body is, with ids that the graph around it shares, and stands in that graph in the end.
 */
import type { EdgeDefinition, Json, JsonObject, JsonSchema, NodeDefinition, WorkflowDefinition } from '@nebula/core';
import { idsInOrder, isJsonObject, writtenOrder } from '@nebula/core/authoring';
import { type NodePlace, sourceOf } from './expression.ts';
import { type Arrow, impliedNeeds } from './implied-needs.ts';
import { type Before, Handle, placeOf } from './node-handle.ts';
import { invalid, type Place, renderValue } from './render.ts';
import { objectSchema } from './schema-path.ts';

/** What a branch writes once it is known who comes after which case. */
export interface BranchDraft {
  /** A list with the test of each case; undefined when cases are told apart by the value of `on`. */
  readonly tests: ReadonlyMap<string, JsonObject> | undefined;
  readonly targets: Map<string | null, string[]>;
  readonly head: JsonObject;
}

/** What lies between a split and its merge. */
export interface RegionDraft {
  readonly nodes: ReadonlyMap<string, Json>;
  readonly edges: readonly EdgeDefinition[];
  /** What the merge comes after: the last nodes of a round, or the split itself where items go straight through. */
  readonly ends: readonly string[];
  /** What is known of that which a round gives. */
  readonly round: JsonSchema;
  merge: NodeDraft | undefined;
}

export class NodeDraft implements NodePlace {
  readonly id: string;
  readonly graph: GraphDraft;
  readonly reads = new Set<string>();
  readonly needs: string[] = [];
  definition: JsonObject = {};
  branch: BranchDraft | undefined;
  /** Of a split. */
  region: RegionDraft | undefined;
  /** Of a merge. */
  split: NodeDraft | undefined;

  constructor(id: string, graph: GraphDraft) {
    this.id = id;
    this.graph = graph;
  }

  /** Where this node's values stand. */
  place(special: Partial<Pick<Place, 'loops' | 'self'>> = {}): Place {
    const { graph } = this;
    const read = (node: NodePlace) => {
      if (node === this || node === this.split) return;
      // Nothing but the rounds leads into a merge, so its split is there before.
      if (node.graph === graph) (this.split ?? this).reads.add(node.id);
      else graph.readOutside(node);
    };
    return { workflow: graph.workflow, loops: graph.loops, ...special, read };
  }
}

export class GraphDraft {
  /** Stands for the workflow: the same object in all its graphs. */
  readonly workflow: object;
  readonly around: GraphDraft | undefined;
  /** The innermost first. */
  readonly loops: readonly object[];
  readonly nodes = new Map<string, NodeDraft>();
  readonly edges: EdgeDefinition[] = [];
  readonly #ids: Set<string>;
  readonly #outside = new Set<NodePlace>();
  /** A failure node has no edges, and may read every node. */
  failureNode: string | undefined;

  /** `isRegion`: between a split and its merge. */
  constructor(workflow: object, around?: GraphDraft, loop?: object, isRegion = false) {
    this.workflow = workflow;
    this.around = around;
    this.loops = loop === undefined ? (around?.loops ?? []) : [loop, ...(around?.loops ?? [])];
    this.#ids = isRegion && around !== undefined ? around.#ids : new Set();
  }

  add(id: string): NodeDraft {
    if (typeof id !== 'string')
      throw invalid(`the id of a node is ${typeof id}`, "an id is a text: w.node('fetch', …)");
    if (this.#ids.has(id)) throw invalid(`there are two nodes '${id}'`, 'give one of them another id');
    this.#ids.add(id);
    const node = new NodeDraft(id, this);
    this.nodes.set(id, node);
    return node;
  }

  readOutside(node: NodePlace): void {
    for (let graph = this.around; graph !== undefined; graph = graph.around) {
      if (graph === node.graph) {
        this.#outside.add(node);
        return;
      }
    }
    const isInside = node.graph instanceof GraphDraft && node.graph.workflow === this.workflow;
    throw isInside
      ? invalid(
          `'${node.id}' is in the body of a loop and is read outside of it`,
          'read the output of the loop, or of the merge',
        )
      : invalid(`'${node.id}' is a node of another workflow`, 'hand its output over as input');
  }

  /** A node that comes after others. */
  comesAfter(node: NodeDraft, before: readonly Before[]): void {
    for (const one of before) this.link(one, node.id, {});
  }

  link(from: Before, to: string, options: JsonObject): void {
    const source = this.draftOf(from);
    if (source.region !== undefined && options.on !== 'error') {
      throw invalid(
        `'${to}' comes after the split '${source.id}'`,
        'write what runs per item in its function, and let the rest need the merge',
      );
    }
    if ('case' in from && typeof from.case !== 'function') {
      const targets = source.branch?.targets ?? new Map<string | null, string[]>();
      targets.set(from.case, [...(targets.get(from.case) ?? []), to]);
      if (Object.keys(options).length > 0) {
        throw invalid(`the way from '${source.id}' to '${to}' is a case`, 'a case has no conditions of its own');
      }
    } else if (Object.keys(options).length > 0) {
      this.edges.push({ from: source.id, to, ...options });
    } else {
      const { needs } = this.nodes.get(to) as NodeDraft;
      if (!needs.includes(source.id)) needs.push(source.id);
    }
  }

  draftOf(handle: object): NodeDraft {
    const place = placeOf(handle);
    if (place === undefined) throw invalid('this is no node', 'give what w.node() returned');
    if (place.graph !== this) throw invalid(`'${place.id}' is not in the same graph`, 'edges do not leave a body');
    return place as NodeDraft;
  }

  /** The body, once everything is in it; reads of what is around it become reads of `holder`. */
  finish(output: unknown, holder?: Place): { body: JsonObject; schema: JsonSchema } {
    const value = output instanceof Handle ? output.output : output;
    if (value instanceof Promise)
      throw invalid('the function is asynchronous', 'a workflow is data: write it without await');
    const read = (node: NodePlace) => (node.graph === this ? undefined : this.readOutside(node));
    const place: Place = { workflow: this.workflow, loops: this.loops, read };
    const rendered = value === undefined ? undefined : renderValue(value, place, 'output');
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

  /** What a split lays out in the graph around; its function has given the nodes that lead to the merge. */
  finishRegion(split: NodeDraft, given: unknown, item: JsonSchema): RegionDraft {
    const { body } = this.finish(undefined, split.place());
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
      round: ends === undefined ? item : roundSchema(ends),
      merge: undefined,
    };
  }

  /** By id; undefined when no node was given. */
  #endsOf(given: unknown): ReadonlyMap<string, Handle> | undefined {
    if (given === undefined) return undefined;
    if (given instanceof Handle && this.draftOf(given).region === undefined) return new Map([[given.id, given]]);
    const named = isJsonObject(given) && !(given instanceof Handle) ? Object.entries(given as object) : [];
    const ends = named.filter((one): one is [string, Handle] => one[1] instanceof Handle && one[1].id === one[0]);
    if (ends.length > 1 && ends.length === named.length) return new Map(ends);
    throw invalid(
      'what a split’s function returns are not the last nodes of a round',
      'return the node before the merge, or several by their ids: { ask, look }',
    );
  }

  #regions(): RegionDraft[] {
    return [...this.nodes.values()].flatMap(({ region }) => region ?? []);
  }

  #passOn(node: NodePlace, holder: Place | undefined): void {
    if (this.nodes.has(node.id)) {
      throw invalid(`'${node.id}' is read in a body that has a node of this id`, 'give one of them another id');
    }
    holder?.read(node);
  }

  #nodeDefinitions(): Map<string, Json> {
    const { needs, unclear } = this.#implied();
    const [first] = unclear;
    if (first !== undefined) {
      throw invalid(
        `'${first.node}' is reached under a condition and reads '${first.reads}', which is not before that`,
        `let the node that decides need '${first.reads}', or say needs: [${first.reads}] if it alone is enough to run`,
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

  /** A way out of a split leads through its rounds, and behind them through its merge. */
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
  // A case that nothing comes after is taken all the same: without it, another one would be.
  const cases: Json =
    tests === undefined
      ? Object.fromEntries(named.map((name) => [name, to(name)]))
      : [...tests].map(([name, test]) => ({ ...test, to: to(name) }));
  return { ...head, cases, ...(targets.has(null) && { default: to(null) }) };
}

function roundSchema(ends: ReadonlyMap<string, Handle>): JsonSchema {
  const [only, ...others] = ends.values();
  if (only !== undefined && others.length === 0) return schemaOf(only.output);
  return objectSchema(Object.fromEntries([...ends].map(([id, { output }]) => [id, schemaOf(output)])));
}

/** What is known of a written value. */
function schemaOf(value: unknown): JsonSchema {
  const source = sourceOf(value);
  if (source !== undefined) return source.kind === 'path' && !source.isNullable ? source.schema : true;
  if (typeof value === 'string') return { type: 'string' };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  return objectSchema(Object.fromEntries(Object.entries(value).map(([key, member]) => [key, schemaOf(member)])));
}

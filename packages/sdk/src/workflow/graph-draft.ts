/**
 * A graph while it is written.
 *
 * 1. An id is taken once. 2. A node reads only what can be seen from where it is: its own graph and those around it.
 * 3. Reading a node of a graph around it is reading by the composite node there. 4. Edges that follow from reading are
 *    added at the end, when all of the author's own are known.
 */
import type { EdgeDefinition, Json, JsonObject, JsonSchema } from '@nebula/core';
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

export class NodeDraft implements NodePlace {
  readonly id: string;
  readonly graph: GraphDraft;
  readonly reads = new Set<string>();
  readonly needs: string[] = [];
  definition: JsonObject = {};
  branch: BranchDraft | undefined;

  constructor(id: string, graph: GraphDraft) {
    this.id = id;
    this.graph = graph;
  }

  /** Where this node's values stand. */
  place(special: Partial<Pick<Place, 'loops' | 'self'>> = {}): Place {
    const { graph } = this;
    const read = (node: NodePlace) => {
      if (node === this) return;
      if (node.graph === graph) this.reads.add(node.id);
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
  readonly #outside = new Set<NodePlace>();
  /** A failure node has no edges, and may read every node. */
  failureNode: string | undefined;

  constructor(workflow: object, around?: GraphDraft, loop?: object) {
    this.workflow = workflow;
    this.around = around;
    this.loops = loop === undefined ? (around?.loops ?? []) : [loop, ...(around?.loops ?? [])];
  }

  add(id: string): NodeDraft {
    if (typeof id !== 'string')
      throw invalid(`the id of a node is ${typeof id}`, "an id is a text: w.node('fetch', …)");
    if (this.nodes.has(id)) throw invalid(`there are two nodes '${id}'`, 'give one of them another id');
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
      ? invalid(`'${node.id}' is in the body of a loop and is read outside of it`, 'read the output of the loop')
      : invalid(`'${node.id}' is a node of another workflow`, 'hand its output over as input');
  }

  /** A node that comes after others. */
  comesAfter(node: NodeDraft, before: readonly Before[]): void {
    for (const one of before) this.link(one, node.id, {});
  }

  link(from: Before, to: string, options: JsonObject): void {
    const source = this.draftOf(from);
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
    for (const node of this.#outside) this.#passOn(node, holder);
    return {
      body: {
        nodes,
        ...(this.edges.length > 0 && { edges: this.edges as unknown as Json }),
        ...(rendered !== undefined && { output: rendered }),
      },
      schema: schemaOf(value),
    };
  }

  #passOn(node: NodePlace, holder: Place | undefined): void {
    if (this.nodes.has(node.id)) {
      throw invalid(`'${node.id}' is read in a body that has a node of this id`, 'give one of them another id');
    }
    holder?.read(node);
  }

  #nodeDefinitions(): JsonObject {
    const { needs, unclear } = this.#implied();
    const [first] = unclear;
    if (first !== undefined) {
      throw invalid(
        `'${first.node}' is reached under a condition and reads '${first.reads}', which is not before that`,
        `let the node that decides need '${first.reads}', or say needs: [${first.reads}] if it alone is enough to run`,
      );
    }
    const definitions: Record<string, Json> = {};
    for (const node of this.nodes.values()) {
      const all = [...node.needs, ...(needs.get(node.id) ?? [])];
      const branch = node.branch && { branch: branchDefinition(node.branch) };
      definitions[node.id] = { ...(all.length > 0 && { needs: all }), ...node.definition, ...branch };
    }
    return definitions;
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
    const [first = '', ...others] = targets.get(name) ?? [];
    return others.length === 0 ? first : [first, ...others];
  };
  const named = [...targets.keys()].filter((name) => name !== null);
  const cases: Json =
    tests === undefined
      ? Object.fromEntries(named.map((name) => [name, to(name)]))
      : [...tests].filter(([name]) => targets.has(name)).map(([name, test]) => ({ ...test, to: to(name) }));
  return { ...head, cases, ...(targets.has(null) && { default: to(null) }) };
}

/** What is known of a written value. */
function schemaOf(value: unknown): JsonSchema {
  const source = sourceOf(value);
  if (source !== undefined) return source.kind === 'path' && !source.isNullable ? source.schema : true;
  if (typeof value === 'string') return { type: 'string' };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  return objectSchema(Object.fromEntries(Object.entries(value).map(([key, member]) => [key, schemaOf(member)])));
}

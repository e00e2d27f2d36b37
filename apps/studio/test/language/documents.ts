/** Texts to edit: the examples in several spellings, and small texts with what files contain besides. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isJsonObject, type Json, readSource } from '@nebula/core';

const EXAMPLES = path.resolve(import.meta.dirname, '../../../../examples');

function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml') && !name.endsWith('.test.yaml'))
    .map((name) => path.join(folder, name));
}

/** The examples as they are. */
const examples: readonly string[] = [...filesIn(EXAMPLES), ...filesIn(path.join(EXAMPLES, 'patterns'))].map((file) =>
  readFileSync(file, 'utf8'),
);

/** The same with other line breaks, without the last one, and as JSON. */
export const documents: readonly string[] = examples.flatMap((text) => [
  text,
  text.replaceAll('\n', '\r\n'),
  text.trimEnd(),
  `${JSON.stringify(dataOf(text), null, 2)}\n`,
  JSON.stringify(dataOf(text)),
]);

export function dataOf(text: string): Json {
  const { value } = readSource(text);
  if (value === undefined) throw new Error(`Not readable:\n${text}`);
  return value;
}

/** All nodes by path, as the canvas names them. */
export function nodePaths(graph: Json, around = ''): string[] {
  const nodes = isJsonObject(graph) && isJsonObject(graph.nodes) ? graph.nodes : {};
  return Object.entries(nodes).flatMap(([id, node]) => {
    const own = around === '' ? id : `${around}/${id}`;
    const inner = isJsonObject(node) ? (node.do ?? node.group ?? null) : null;
    return [own, ...nodePaths(inner, own)];
  });
}

/** The comments of a text; a `#` in a string does not count, as far as a test needs. */
export function commentsOf(text: string): string[] {
  return text.split(/\r?\n/).flatMap((line) => /(?:^|\s)(#[^"'}]*)$/.exec(line)?.[1]?.trim() ?? []);
}

/** A definition that is edited in steps: data operations by path, made as splices of its text. */
import { type DocumentPath, isJsonObject, type Json, jsonEquals } from '@nebula/core';
import { refuse } from './refusal.ts';
import { locate, readTree, type SourceTree, valueAt } from './source-tree.ts';
import { insertEdits, type Place, removeEdits, replaceEdits } from './splices.ts';
import { TextDraft, type TextEdit } from './text-edit.ts';

export class DefinitionDraft {
  readonly #draft: TextDraft;
  #tree: SourceTree | undefined;

  constructor(text: string) {
    this.#draft = new TextDraft(text);
  }

  get tree(): SourceTree {
    this.#tree ??= readTree(this.#draft.text);
    return this.#tree;
  }

  get value(): Json {
    return this.tree.value;
  }

  at(path: DocumentPath): Json | undefined {
    return valueAt(this.value, path);
  }

  has(path: DocumentPath): boolean {
    return this.at(path) !== undefined;
  }

  edits(): TextEdit[] {
    return this.#draft.edits();
  }

  splice(edits: readonly TextEdit[]): void {
    if (edits.length === 0) return;
    this.#draft.apply(edits);
    this.#tree = undefined;
  }

  /** Sets the value at a path; containers that are missing on the way are made. Equal parts are not touched. */
  set(path: DocumentPath, value: Json): void {
    const before = this.at(path);
    if (before !== undefined) return this.#change(path, before, value);
    let depth = path.length - 1;
    while (depth > 0 && !this.has(path.slice(0, depth))) depth--;
    const missing = path.slice(depth + 1);
    const nested = missing.reduceRight<Json>(
      (inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }),
      value,
    );
    const parent = path.slice(0, depth);
    const key = path[depth] as string | number;
    const holder = this.at(parent);
    if (holder === null)
      return this.splice(replaceEdits(this.tree, parent, typeof key === 'number' ? [nested] : { [key]: nested }));
    if (isJsonObject(holder) && typeof key === 'string') return this.insert(parent, key, nested);
    if (Array.isArray(holder) && key === holder.length) return this.insert(parent, undefined, nested);
    refuse(`${parent.join('.')} is not a mapping.`);
  }

  /** Adds a member to a mapping or, without a key, an item to a list. */
  insert(path: DocumentPath, key: string | undefined, value: Json, place?: Place): void {
    this.splice(insertEdits(this.tree, path, key, value, place));
  }

  remove(path: DocumentPath, withComments = false): void {
    if (this.has(path)) this.splice(removeEdits(this.tree, path, withComments));
  }

  /** Removes a member, and the container if nothing is left in it. */
  removeWithContainer(path: DocumentPath): void {
    const container = path.slice(0, -1);
    const holder = this.at(container);
    const size = Array.isArray(holder) ? holder.length : Object.keys((holder ?? {}) as object).length;
    this.remove(size === 1 ? container : path);
  }

  #change(path: DocumentPath, before: Json, after: Json): void {
    if (jsonEquals(before, after)) return;
    if (locate(this.tree, path)?.isShared === true) return this.splice(replaceEdits(this.tree, path, after));
    if (isJsonObject(before) && isJsonObject(after) && isFilled(before) && isFilled(after)) {
      return this.#changeMap(path, before, after);
    }
    if (Array.isArray(before) && Array.isArray(after) && before.length > 0 && after.length > 0) {
      return this.#changeList(path, before, after);
    }
    this.splice(replaceEdits(this.tree, path, after));
  }

  #changeMap(path: DocumentPath, before: Readonly<Record<string, Json>>, after: Readonly<Record<string, Json>>): void {
    const keys = Object.keys(after);
    for (const key of keys) if (Object.hasOwn(before, key)) this.set([...path, key], after[key] as Json);
    for (const key of keys) if (!Object.hasOwn(before, key)) this.insert(path, key, after[key] as Json);
    for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) this.remove([...path, key]);
  }

  #changeList(path: DocumentPath, before: readonly Json[], after: readonly Json[]): void {
    const most = Math.min(before.length, after.length);
    let first = 0;
    while (first < most && jsonEquals(before[first] as Json, after[first] as Json)) first++;
    let last = 0;
    while (last < most - first && jsonEquals(before.at(-1 - last) as Json, after.at(-1 - last) as Json)) last++;
    const old = before.length - first - last;
    const fresh = after.length - first - last;
    for (let index = first; index < first + Math.min(old, fresh); index++)
      this.set([...path, index], after[index] as Json);
    for (let index = first + old; index < first + fresh; index++) {
      this.insert(path, undefined, after[index] as Json, index === 0 ? 'first' : { after: index - 1 });
    }
    for (let index = first + old - 1; index >= first + fresh; index--) this.remove([...path, index]);
  }
}

function isFilled(value: object): boolean {
  return Object.keys(value).length > 0;
}

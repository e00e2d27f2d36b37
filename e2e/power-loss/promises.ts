/** The promises that were made up to a point of the record, and the effects that the outside world has seen. */
import type { Mark } from './marks.ts';

export class Promises {
  /** Facts of the database, in the order in which they were promised. */
  readonly facts: string[] = [];
  /** `owner/sha256` of the blobs that must be there. */
  readonly blobs = new Set<string>();
  /** The values that each secret may have: the last one that was promised, and those that were begun after it. */
  readonly secrets = new Map<string, { readonly isPromised: boolean; readonly values: ReadonlySet<string> }>();
  readonly effects = new Set<string>();

  apply(mark: Mark): void {
    switch (mark.type) {
      case 'promised':
        this.facts.push(...mark.facts);
        return;
      case 'blob':
        this.blobs.add(`${mark.owner}/${mark.sha256}`);
        return;
      case 'blobs-deleted':
        for (const blob of this.blobs) if (blob.startsWith(`${mark.owner}/`)) this.blobs.delete(blob);
        return;
      case 'secret-begun': {
        const before = this.secrets.get(mark.name) ?? { isPromised: false, values: new Set() };
        this.secrets.set(mark.name, { ...before, values: new Set([...before.values, mark.value]) });
        return;
      }
      case 'secret':
        this.secrets.set(mark.name, { isPromised: true, values: new Set([mark.value]) });
        return;
      case 'effect':
        this.effects.add(mark.key);
        return;
      default:
        mark satisfies never;
    }
  }
}

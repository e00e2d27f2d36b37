/**
 * Leader election within one process.
 *
 *  1. The first candidate of a name leads; the others wait in order of arrival.
 *  2. The leader is notified in a later microtask, so that `campaign` has returned before.
 */
import type { Campaign, Leader } from '@nebula/ports';

export function localLeader(): Leader {
  const lines = new Map<string, Candidate[]>();
  return { campaign: (name, onChange) => new Candidate(lines, name, onChange) };
}

class Candidate implements Campaign {
  readonly #lines: Map<string, Candidate[]>;
  readonly #name: string;
  readonly #onChange: (isLeader: boolean) => void;
  #isLeader = false;

  constructor(lines: Map<string, Candidate[]>, name: string, onChange: (isLeader: boolean) => void) {
    this.#lines = lines;
    this.#name = name;
    this.#onChange = onChange;
    const line = lines.get(name) ?? [];
    lines.set(name, line);
    line.push(this);
    queueMicrotask(() => this.#leadIfFirst());
  }

  get isLeader(): boolean {
    return this.#isLeader;
  }

  async resign(): Promise<void> {
    this.#isLeader = false;
    const left = (this.#lines.get(this.#name) ?? []).filter((other) => other !== this);
    if (left.length === 0) this.#lines.delete(this.#name);
    else this.#lines.set(this.#name, left);
    const [next] = left;
    if (next !== undefined) queueMicrotask(() => next.#leadIfFirst());
  }

  #leadIfFirst(): void {
    if (this.#isLeader || this.#lines.get(this.#name)?.[0] !== this) return;
    this.#isLeader = true;
    this.#onChange(true);
  }
}

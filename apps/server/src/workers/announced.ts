/** Actions that workers outside have announced. They last: a workflow that names one is valid while its workers are away. */
import { type Action, type ActionDescription, announcedAction, compileSchema, NebulaError } from '@nebula/core';
import type { RecordRow } from '@nebula/ports';
import type { Parts } from '../parts.ts';

const KIND = 'action';
const PAGE = 500;
/** How often to look for what workers have announced to other servers on the same store. */
const LOOK_MS = 10_000;

type OfAnnounced = Pick<Parts, 'records' | 'engine' | 'catalog' | 'clock'>;

/** As a catalogue takes them. */
export async function announcedActions({ records }: Pick<Parts, 'records'>): Promise<Action[]> {
  const actions: Action[] = [];
  for (let after: string | undefined; ; ) {
    const rows: readonly RecordRow[] = await records.list(KIND, { limit: PAGE, ...(after !== undefined && { after }) });
    for (const { body } of rows) actions.push(announcedAction(JSON.parse(body) as ActionDescription));
    after = rows.at(-1)?.id;
    if (rows.length < PAGE) return actions;
  }
}

export class Announced {
  private readonly parts: OfAnnounced;
  private readonly onTrouble: (error: unknown) => void;
  private timer: { cancel(): void } | undefined;
  private isOpen = false;

  constructor(parts: OfAnnounced, onTrouble: (error: unknown) => void) {
    this.parts = parts;
    this.onTrouble = onTrouble;
  }

  async open(): Promise<void> {
    this.isOpen = true;
    await this.look();
  }

  close(): void {
    this.isOpen = false;
    this.timer?.cancel();
  }

  /** Durable, and known to engine and catalogue, when it resolves. */
  async add(descriptions: readonly ActionDescription[]): Promise<void> {
    const { records } = this.parts;
    for (const description of descriptions) check(description);
    const changes: { kind: string; id: string; body: string }[] = [];
    for (const description of descriptions) {
      const id = nameOf(description);
      const body = JSON.stringify(description);
      if ((await records.get(KIND, id))?.body !== body) changes.push({ kind: KIND, id, body });
    }
    if (changes.length > 0) await records.commit(changes);
    await this.refresh();
  }

  private async refresh(): Promise<void> {
    const actions = await announcedActions(this.parts);
    this.parts.engine.announce(actions);
    this.parts.catalog.announce(actions);
  }

  private async look(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      this.onTrouble(error);
    }
    if (this.isOpen) this.timer = this.parts.clock.timer(LOOK_MS, () => void this.look(), { background: true });
  }
}

export function nameOf({ id, version }: Pick<Action, 'id' | 'version'>): string {
  return `${id}@${version}`;
}

function check({ id, input, output }: ActionDescription): void {
  for (const [side, schema] of [
    ['input', input],
    ['output', output],
  ] as const) {
    try {
      if (schema !== undefined) compileSchema(schema);
    } catch (error) {
      throw new NebulaError(
        'ACTION_SCHEMA_INVALID',
        `The ${side} schema of ${id} cannot be used: ${messageOf(error)}`,
        {
          hint: 'Schemas are JSON Schema 2020-12.',
        },
      );
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The connection between remote workers and engines: requests and replies are lost, and late. */
import type { Engine } from '@nebula/engine';
import { later } from '@nebula/ports';
import type { Chance } from './chance.ts';
import type { WorldClock } from './clock.ts';
import type { Target } from './coverage.ts';
import type { Injector } from './injector.ts';
import type { Process } from './process.ts';

/** The time after which a caller gives up a request without a reply. */
const GIVES_UP_MS = 2_000;
const DELAYS_MS = [20, 900, 12_000, 50_000];

export interface Question<T> {
  /** The site at which the process may die. */
  readonly site: 'claim' | 'extend' | 'log' | 'end';
  /** The attempts that the request is about. */
  readonly targets: readonly Target[];
  ask(engine: Engine): Promise<T>;
  /** The attempts that the reply is about, if they are known only then. */
  readonly targetsIn?: (reply: T) => readonly Target[];
  /** The engine has replied, and lives. */
  onReply?(reply: T): void;
}

export interface WireParts {
  readonly clock: WorldClock;
  readonly chance: Chance;
  readonly faults: Injector;
}

export class Wire {
  private readonly parts: WireParts;

  constructor(parts: WireParts) {
    this.parts = parts;
  }

  /** Rejects as the engine does, or if no reply arrives. */
  async send<T>(process: Process, question: Question<T>): Promise<T> {
    const { chance, faults } = this.parts;
    const { targets, targetsIn = () => targets } = question;
    if (faults.strikes('question lost', () => targets)) return this.silence();
    if (faults.strikes('question delayed', () => targets)) await later(this.parts.clock, chance.pick(DELAYS_MS));
    const reply = await this.asked(process, question);
    if (faults.strikes('reply lost', () => targetsIn(reply))) return this.silence();
    if (faults.strikes('reply delayed', () => targetsIn(reply))) await later(this.parts.clock, chance.pick(DELAYS_MS));
    return reply;
  }

  private asked<T>(process: Process, { site, ask, onReply }: Question<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const hangUp = (): void => reject(new Error('the connection broke'));
      if (process.isDead) return hangUp();
      process.callers.add(hangUp);
      const heard = (end: () => void): void => {
        if (process.isDead) return;
        process.callers.delete(hangUp);
        end();
      };
      const enter = process.callback(`remote.${site}`, () => {
        ask(process.engine).then(
          (reply) =>
            heard(() => {
              onReply?.(reply);
              resolve(reply);
            }),
          (error: unknown) => heard(() => reject(error as Error)),
        );
      });
      enter();
    });
  }

  private async silence(): Promise<never> {
    await later(this.parts.clock, GIVES_UP_MS);
    throw new Error('nothing was heard');
  }
}

/** How a command is described. */
import type { CommandModule } from './services.ts';

export interface OptionSpec {
  /** As commander reads it: `-n, --limit <count>`. */
  readonly flags: string;
  readonly text: string;
  readonly choices?: readonly string[];
  readonly repeatable?: boolean;
}

export interface CommandSpec {
  /** One or two words. */
  readonly name: string;
  /** Arguments as commander reads them. */
  readonly takes: string;
  readonly summary: string;
  readonly group: Group;
  readonly options: readonly OptionSpec[];
  readonly examples: readonly (readonly [words: string, purpose: string])[];
  /** What else its help should say. */
  readonly notes?: string;
  readonly load: () => Promise<CommandModule>;
}

export type Group = 'Run' | 'Write' | 'Look at runs' | 'Change runs' | 'More';

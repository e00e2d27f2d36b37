/** The named mutations. Each says what would be broken, and which tests notice. */
import type { Mutation } from '../mutation.ts';
import { DECISIONS } from './decisions.ts';
import { DRIVERS } from './drivers.ts';
import { ENGINE } from './engine.ts';
import { SERVER } from './server.ts';
import { STATE } from './state.ts';

export const NAMED: readonly Mutation[] = [...DECISIONS, ...STATE, ...ENGINE, ...DRIVERS, ...SERVER];

/** What every page knows: who is signed in, the chosen project and the preferences. */
import type { AnswerOf, Role } from '@nebula/client';
import { createContext, useContext } from 'react';
import type { Preferences } from './preferences.ts';

export interface Studio {
  readonly me: AnswerOf<'getMe'>;
  readonly info: AnswerOf<'getInfo'>;
  readonly preferences: Preferences;
  readonly theme: 'light' | 'dark' | 'contrast';
  /** The project that lists show. */
  readonly project: string;
  prefer(change: Partial<Preferences>): void;
  signOut(): void;
}

export const StudioContext = createContext<Studio | undefined>(undefined);

export function useStudio(): Studio {
  const studio = useContext(StudioContext);
  if (studio === undefined) throw new Error('There is no Studio around this component.');
  return studio;
}

const RANKS: readonly Role[] = ['viewer', 'operator', 'editor', 'owner'];

/** Whether the person has at least this role in the project. The server decides; pages hide what would be refused. */
export function useMay(role: Role, project?: string): boolean {
  const studio = useStudio();
  const { admin, roles, kind } = studio.me;
  if (admin || kind === 'token') return true;
  const own = roles[project ?? studio.project] ?? roles['*'];
  return own !== undefined && RANKS.indexOf(own) >= RANKS.indexOf(role);
}

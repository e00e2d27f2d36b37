/** Who is signed in. Without a session the sign-in page is shown in place of every other one. */
import type { AnswerOf } from '@nebula/client';
import { ApiError } from '@nebula/client';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useEffect, useMemo } from 'react';
import { api, setCsrfToken, whenSignedOut } from '../data/api.ts';
import { queries } from '../data/queries.ts';
import { live } from '../data/use-live.ts';
import { Failed, Loading } from '../ui/page.tsx';
import type { Preferences } from './preferences.ts';
import { SignIn } from './sign-in.tsx';
import { type Studio, StudioContext } from './studio-context.ts';

interface SessionProps {
  readonly preferences: Preferences;
  readonly theme: Studio['theme'];
  prefer(change: Partial<Preferences>): void;
  readonly children: ReactNode;
}

interface Opened {
  readonly info: AnswerOf<'getInfo'>;
  /** Null: nobody is signed in. */
  readonly me: AnswerOf<'getMe'> | null;
  readonly projects: readonly string[];
  /** Why the code in the address did not sign in. */
  readonly refused?: string;
}

const SESSION = ['session'] as const;

export function Session({ preferences, theme, prefer, children }: SessionProps): ReactElement {
  const { data, error, refetch } = useQuery({
    queryKey: SESSION,
    queryFn: openSession,
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    whenSignedOut(() => {
      const before = queries.getQueryData<Opened>(SESSION);
      if (before !== undefined && before.me !== null) queries.setQueryData<Opened>(SESSION, { ...before, me: null });
    });
  }, []);
  const studio = useMemo((): Studio | undefined => {
    if (data === undefined || data.me === null) return undefined;
    const { info, me, projects } = data;
    const chosen = preferences.project;
    const project = chosen !== undefined && projects.includes(chosen) ? chosen : (projects[0] ?? 'default');
    return { info, me, preferences, theme, project, prefer, signOut: () => void signOut() };
  }, [data, preferences, theme, prefer]);
  if (error !== null && data === undefined) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  if (studio === undefined) {
    return <SignIn info={data.info} refused={data.refused} onSignedIn={() => void signedIn()} />;
  }
  return <StudioContext value={studio}>{children}</StudioContext>;
}

async function openSession(): Promise<Opened> {
  const info = await api.call('getInfo');
  const refused = await signInByCode();
  try {
    const me = await api.call('getMe');
    setCsrfToken(me.csrfToken);
    const { items } = await api.call('listProjects', { query: { limit: 200 } });
    return { info, me, projects: items.map(({ projectId }) => projectId) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    return { info, me: null, projects: [], ...(refused !== undefined && { refused }) };
  }
}

/**
 * The address that a desktop server prints has a code that works once, in the fragment: it is not sent with requests,
 * and leaves the address at once. Returns why it was refused.
 */
async function signInByCode(): Promise<string | undefined> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  try {
    const { csrfToken } = await api.call('signIn', { body: { code } });
    setCsrfToken(csrfToken);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function signedIn(): Promise<void> {
  await queries.invalidateQueries();
  live.retryNow();
}

async function signOut(): Promise<void> {
  await api.call('logout').catch(() => {});
  setCsrfToken(undefined);
  queries.clear();
  location.assign('/');
}

/** The Studio from the outside in: preferences, session, shell, page. */
import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactElement, useEffect, useMemo, useState } from 'react';
import { queries } from '../data/queries.ts';
import { formatOf } from '../text/format.ts';
import { LocaleContext } from '../text/use-text.ts';
import { NoticeList } from '../ui/notice-list.tsx';
import { type Preferences, readPreferences, shownTheme, storePreferences } from './preferences.ts';
import { Session } from './session.tsx';
import { Shell } from './shell.tsx';

export function App(): ReactElement {
  const [preferences, setPreferences] = useState<Preferences>(readPreferences);
  const [theme, setTheme] = useState(() => shownTheme(preferences.theme));
  useEffect(() => {
    const show = (): void => setTheme(shownTheme(preferences.theme));
    show();
    const media = [matchMedia('(prefers-color-scheme: dark)'), matchMedia('(prefers-contrast: more)')];
    for (const query of media) query.addEventListener('change', show);
    return () => {
      for (const query of media) query.removeEventListener('change', show);
    };
  }, [preferences.theme]);
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
    document.documentElement.lang = preferences.language;
  }, [theme, preferences.language]);
  const locale = useMemo(
    () => ({ language: preferences.language, format: formatOf(preferences.language) }),
    [preferences.language],
  );
  const prefer = (change: Partial<Preferences>): void => {
    setPreferences((before) => {
      const next = { ...before, ...change };
      storePreferences(next);
      return next;
    });
  };
  return (
    <QueryClientProvider client={queries}>
      <LocaleContext value={locale}>
        <Session preferences={preferences} theme={theme} prefer={prefer}>
          <Shell />
        </Session>
        <NoticeList />
      </LocaleContext>
    </QueryClientProvider>
  );
}

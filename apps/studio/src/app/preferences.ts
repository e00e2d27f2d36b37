/** Choices of the person at this browser: theme, language, project. Kept in the browser. */
import { isLanguage, type Language, preferredLanguage } from '../text/define-text.ts';

export const THEMES = ['system', 'light', 'dark', 'contrast'] as const;
export type ThemeChoice = (typeof THEMES)[number];

export interface Preferences {
  readonly theme: ThemeChoice;
  readonly language: Language;
  /** The chosen project; undefined: the first one. */
  readonly project: string | undefined;
  readonly hasSeenTour: boolean;
}

const KEY = 'nebula-studio';

export function readPreferences(): Preferences {
  const stored = storedPreferences();
  const { theme, language, project, hasSeenTour } = stored;
  return {
    theme: THEMES.find((known) => known === theme) ?? 'system',
    language: typeof language === 'string' && isLanguage(language) ? language : preferredLanguage(navigator.languages),
    project: typeof project === 'string' ? project : undefined,
    hasSeenTour: hasSeenTour === true,
  };
}

/** A browser may forbid storage; the choices then last until the page is closed. */
function storedPreferences(): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export function storePreferences(preferences: Preferences): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(preferences));
  } catch {
    // See above.
  }
}

/** The theme that is shown for a choice. */
export function shownTheme(choice: ThemeChoice): 'light' | 'dark' | 'contrast' {
  if (choice !== 'system') return choice;
  if (matchMedia('(prefers-contrast: more)').matches) return 'contrast';
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

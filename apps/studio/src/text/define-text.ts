/**
 * Texts of the Studio in every language. A page defines its texts in its own folder; a text that one language lacks is a
 * type error. A text with values is a function, so that each language orders its words as it needs.
 */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;

export type Language = keyof typeof LANGUAGES;

/** A text, a function that makes one, or a group of texts. */
export interface Texts {
  // biome-ignore lint/suspicious/noExplicitAny: the parameters of a text are its own.
  readonly [name: string]: string | ((...values: any[]) => string) | Texts;
}

/** The shape of a set of texts in another language. */
type Same<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? string
    : T[K] extends (...values: infer V) => string
      ? (...values: V) => string
      : Same<T[K]>;
};

export type TextsByLanguage<T> = Readonly<Record<Language, T>>;

export function defineText<const T extends Texts>(texts: {
  readonly en: T;
  readonly de: Same<T>;
}): TextsByLanguage<Same<T>> {
  return texts as unknown as TextsByLanguage<Same<T>>;
}

export function isLanguage(text: string): text is Language {
  return Object.hasOwn(LANGUAGES, text);
}

/** The first language of a list of preferences (`de-AT`, `en`) that there are texts for. */
export function preferredLanguage(preferences: readonly string[]): Language {
  for (const preference of preferences) {
    const language = preference.split('-')[0] ?? '';
    if (isLanguage(language)) return language;
  }
  return 'en';
}

/** The language of the page, for components. */
import { createContext, useContext } from 'react';
import type { Language, TextsByLanguage } from './define-text.ts';
import { type Format, formatOf } from './format.ts';

export interface Locale {
  readonly language: Language;
  readonly format: Format;
}

export const LocaleContext = createContext<Locale>({ language: 'en', format: formatOf('en') });

export function useText<T>(texts: TextsByLanguage<T>): T {
  return texts[useContext(LocaleContext).language];
}

export function useFormat(): Format {
  return useContext(LocaleContext).format;
}

export function useLanguage(): Language {
  return useContext(LocaleContext).language;
}

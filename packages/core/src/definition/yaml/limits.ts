export const YAML_LIMITS = {
  /**
   * 1.3 million lexemes took 2.7 s and 290 MB, with linear growth: 8 s and 0.9 GB at this limit. Larger files must be
   * plain YAML or JSON.
   */
  maxLexemes: 4_000_000,
  /** Values that aliases may add to a document. */
  maxAliasedValues: 100_000,
  /** One mistake often causes many follow-up errors. */
  maxSyntaxErrors: 10,
} as const;

export type YamlLimits = { readonly [K in keyof typeof YAML_LIMITS]: number };

export const YAML_LIMITS = {
  /** 1.3 million took 2.7 s and 290 MB, and it grows linearly: 8 s and 0.9 GB here. Larger files must be plain YAML or JSON. */
  maxLexemes: 4_000_000,
  /** Values that aliases may add to a document. */
  maxAliasedValues: 100_000,
  /** One mistake often causes many more messages further down. */
  maxSyntaxErrors: 10,
} as const;

export type YamlLimits = { readonly [K in keyof typeof YAML_LIMITS]: number };

export const YAML_LIMITS = {
  /** About 8 s and 1 GB in the library at the worst; larger files must be plain YAML or JSON. */
  maxLexemes: 4_000_000,
  /** Values that aliases may add to a document. */
  maxAliasedValues: 100_000,
  /** One mistake often causes many more messages further down. */
  maxSyntaxErrors: 10,
} as const;

export type YamlLimits = { readonly [K in keyof typeof YAML_LIMITS]: number };

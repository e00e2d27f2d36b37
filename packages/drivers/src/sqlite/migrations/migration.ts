/** One step of the schema. Released steps are never edited: existing databases have them. */
export interface Migration {
  readonly version: number;
  readonly sql: string;
}

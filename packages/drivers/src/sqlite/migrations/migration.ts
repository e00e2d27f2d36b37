/** One step of the schema. Steps that were released are never edited: databases out there have them. */
export interface Migration {
  readonly version: number;
  readonly sql: string;
}

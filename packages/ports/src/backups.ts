/** Copies of all durable data at one point in time. */
export interface BackupOptions {
  /** Include the key of the secrets. Without it, the secrets of the copy can be opened only with a key kept elsewhere. */
  readonly withKey: boolean;
}

export interface Backups {
  /**
   * The bytes of a backup. The copy of the database is complete when the first bytes arrive. Rejects with
   * `BACKUP_RUNNING` while another backup of the same data is made, by any process.
   */
  create(options: BackupOptions): AsyncIterable<Uint8Array>;
}

/** The recorded folder has one data folder, so that the record also has how that came into being. */
export const DATA_FOLDER = 'data';
export const DATABASE = 'nebula.db';

/** Deliberate breakages: of the workload, and of its record. */
export const SABOTAGES = [
  'sync-off',
  'sync-normal',
  'early-acknowledgement',
  'folder-syncs-lost',
  'blob-folder-syncs-lost',
  'blob-syncs-lost',
  'secret-syncs-lost',
] as const;

export type Sabotage = (typeof SABOTAGES)[number];

export interface WorkloadOptions {
  readonly seed: number;
  readonly runs: number;
  /** How often the data folder is opened and closed. */
  readonly lives: number;
  readonly commitsIn: 'main' | 'thread' | 'auto';
  readonly sabotage?: Sabotage;
}

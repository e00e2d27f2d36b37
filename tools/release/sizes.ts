/** The size limits of installed packages. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Unpacked, with all dependencies. A limit is a tenth or so above what was measured on Linux x64 in November 2026: growth
 * beyond it is decided on here, and not by accident.
 */
export const SIZE_LIMITS_KB = {
  // 4.6 MB of it are the core, which the builder checks definitions with.
  sdk: 10_200,
  client: 2_200,
  // 13.8 MB of it are the OpenTelemetry SDK. The Studio is there three times: plain, and compressed in two ways.
  cli: 80_000,
} as const;

export interface Installed {
  readonly name: string;
  readonly kilobytes: number;
}

/** The packages in a `node_modules`, the largest first. */
export function installedIn(nodeModules: string): Installed[] {
  return namesIn(nodeModules)
    .map((name) => ({ name, kilobytes: Math.round(bytesIn(path.join(nodeModules, name)) / 1_000) }))
    .sort((a, b) => b.kilobytes - a.kilobytes);
}

function namesIn(nodeModules: string): string[] {
  return readdirSync(nodeModules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(path.join(nodeModules, name)).map((inner) => `${name}/${inner}`) : [name],
    );
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
}

/** The page that loads the Studio. It has no inline script and no inline style: the policy of the server allows none. */
import { NONCE_MARK, type StudioFile } from '@nebula/server/studio';
import type { OutputAsset, OutputChunk } from 'rolldown';
import { STYLESHEET } from './stylesheet.ts';

/** A diamond, as in the terminal. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Cpath d='M16 2 30 16 16 30 2 16Z' fill='%237c5cff'/%3E%3C/svg%3E";

export interface Page {
  readonly page: string;
  readonly first: readonly string[];
}

export function pageOf(
  output: readonly (OutputChunk | OutputAsset)[],
  files: Readonly<Record<string, StudioFile>>,
): Page {
  const chunks = new Map(output.flatMap((built) => (built.type === 'chunk' ? [[built.fileName, built] as const] : [])));
  const main = [...chunks.values()].find(({ isEntry, name }) => isEntry && name === 'main');
  if (main === undefined) throw new Error('the build has no main script');
  const preloaded = [...withImports(main, chunks)].filter((name) => name !== main.fileName);
  const styles = output.flatMap(({ type, fileName }) =>
    type === 'asset' && fileName.startsWith(`${STYLESHEET}-`) && fileName.endsWith('.css') ? [fileName] : [],
  );
  const checked = (name: string): string => `/assets/${name}" integrity="${files[name]?.integrity}`;
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="csp-nonce" content="${NONCE_MARK}">
<title>Nebula Studio</title>
<link rel="icon" href="${ICON}">
${styles.map((name) => `<link rel="stylesheet" href="${checked(name)}">\n`).join('')}${preloaded
  .map((name) => `<link rel="modulepreload" href="${checked(name)}">\n`)
  .join('')}<script type="module" src="${checked(main.fileName)}"></script>
</head>
<body>
<div id="studio"></div>
<noscript>The Studio needs JavaScript. The API works without it: <a href="/api/docs">API reference</a></noscript>
</body>
</html>
`;
  return { page, first: [main.fileName, ...preloaded, ...styles] };
}

/** The chunk and all that it imports statically. */
function withImports(
  chunk: OutputChunk,
  chunks: ReadonlyMap<string, OutputChunk>,
  found = new Set<string>(),
): Set<string> {
  if (found.has(chunk.fileName)) return found;
  found.add(chunk.fileName);
  for (const name of chunk.imports) {
    const imported = chunks.get(name);
    if (imported !== undefined) withImports(imported, chunks, found);
  }
  return found;
}

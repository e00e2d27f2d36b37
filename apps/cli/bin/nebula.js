#!/usr/bin/env node
// Plain JavaScript that any Node can parse: an old one fails on the TypeScript behind it with words nobody understands.
import { readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';

const [major, minor] = process.versions.node.split('.').map(Number);
// Types are stripped without a flag from 22.18 and 23.6 on.
const runsTypeScript = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18);

if (!runsTypeScript) {
  process.stderr.write(
    `error NODE_TOO_OLD: Nebula needs Node.js 22.18 or newer; this is ${process.version} (${process.execPath}).\n` +
      'hint: inside the repository `npx nebula` brings its own Node.js; elsewhere get the current LTS from\n' +
      '      https://nodejs.org/en/download or with `nvm install --lts`, `fnm install --lts`, `npx -p node@lts nebula`.\n',
  );
  process.exitCode = 2;
} else if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  process.stdout.write(`${version}\n`);
} else {
  // Another command with an argument of this name only starts 40 ms later.
  if (process.argv.includes('serve')) (await import('./server-heap.js')).limitServerHeap();
  // Keeps the stripped and compiled modules between runs: halves the start of every other command.
  nodeModule.enableCompileCache?.();
  const { findOwnModules } = await import('./own-modules.js');
  findOwnModules();
  const { main } = await import('../src/main.ts');
  await main(process.argv.slice(2));
}

/** `node tools/docs/try.ts docs/workflows.md …`: does what some documents say, while they are being written. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import nebulaConfig from '../../nebula.config.ts';
import { Playground, ROOT } from './playground.ts';
import { tryDocument } from './try-document.ts';

for (const document of process.argv.slice(2)) {
  const playground = new Playground();
  try {
    await tryDocument(
      document,
      readFileSync(path.join(ROOT, document), 'utf8'),
      playground,
      nebulaConfig.actions ?? [],
    );
    console.log(`✓ ${document}`);
  } catch (error) {
    console.log((error as Error).message);
    process.exitCode = 1;
  } finally {
    playground.remove();
  }
}

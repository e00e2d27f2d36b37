import { expect, test } from 'vitest';
import { nebula, projectFolder } from './support/nebula-process.ts';

const CONFIG = "import { charge } from './actions/charge.ts';\nexport default { actions: [charge] };\n";
const HELLO = 'id: hello\nnodes: { greet: { action: core.noop@1 } }\n';

async function saidOf(charge: string): Promise<string> {
  const cwd = projectFolder({
    'nebula.config.ts': CONFIG,
    'actions/charge.ts': charge,
    'hello.yaml': HELLO,
    'package.json': '{ "type": "module" }',
  });
  const { code, stderr } = await nebula(['run', 'hello.yaml'], { cwd });
  expect(code).toBe(2);
  return stderr;
}

test('[CLI-474] a typo in an action file is reported with that file, its line and a caret', async () => {
  expect(await saidOf('export const charge = {\n  id: 7 8,\n};\n')).toMatch(
    /^error CONFIG_INVALID: actions\/charge\.ts:2 cannot be loaded: .*\n(?: {4}.*\n)* {6}id: 7 8,\n {4} +\^.*\n(?: {4}.*\n)*hint: nebula\.config\.ts imports it;/,
  );
});

test('[CLI-474] an error while an action file is loaded is reported with its place', async () => {
  expect(await saidOf('const rates = undefined;\nexport const charge = rates.eur;\n')).toMatch(
    /^error CONFIG_INVALID: actions\/charge\.ts:2:\d+: Cannot read properties of undefined \(reading 'eur'\)\nhint: nebula\.config\.ts imports it;/,
  );
});

test('[CLI-474] a package or file that is not there is named, with the file that imports it', async () => {
  expect(await saidOf("import 'no-such-package';\nexport const charge = {};\n")).toMatch(
    /^error CONFIG_INVALID: actions\/charge\.ts imports 'no-such-package', which does not exist\nhint: npm install no-such-package\n/,
  );
  expect(await saidOf("import './rates';\nexport const charge = {};\n")).toMatch(
    /^error CONFIG_INVALID: actions\/charge\.ts imports 'actions\/rates', which does not exist\nhint: check the path in actions\/charge\.ts/,
  );
});

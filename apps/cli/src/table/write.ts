/** Commands for those who write workflows. */
import { type CommandSpec, JSON_OUTPUT, LOCATION } from './spec.ts';

export const WRITE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'init',
    takes: '[folder]',
    summary: 'make a project: an example workflow, an action and a test',
    group: 'Write',
    options: [
      { flags: '--force', text: 'write into a folder that is not empty; existing files are kept' },
      JSON_OUTPUT,
    ],
    examples: [
      ['init my-project', 'make a project in a new folder'],
      ['init', 'make one here'],
    ],
    load: () => import('../commands/init.ts'),
  },
  {
    name: 'validate',
    takes: '<files...>',
    summary: 'report every problem of workflow files',
    group: 'Write',
    options: [{ flags: '--strict', text: 'take warnings for errors' }, ...LOCATION, JSON_OUTPUT],
    examples: [
      ['validate order.yaml', 'check one file'],
      ['validate workflows/*.yaml --strict', 'refuse what cannot be meant, too'],
      ['validate workflows/*.yaml --json', 'check many, for an editor or CI'],
      ['validate order.yaml --server https://flows.example.com', 'against the actions that are there'],
    ],
    load: () => import('../commands/validate.ts'),
  },
  {
    name: 'graph',
    takes: '<file>',
    summary: 'draw a workflow',
    group: 'Write',
    options: [
      {
        flags: '-f, --format <format>',
        text: 'how to draw it (default: terminal)',
        choices: ['terminal', 'mermaid', 'dot'],
      },
      JSON_OUTPUT,
    ],
    examples: [
      ['graph order.yaml', 'boxes and lines in the terminal'],
      ['graph order.yaml -f mermaid', 'for Markdown'],
      ['graph order.yaml -f dot | dot -Tsvg > order.svg', 'with Graphviz'],
    ],
    load: () => import('../commands/graph.ts'),
  },
  {
    name: 'test',
    takes: '[files...]',
    summary: 'run the tests beside workflows',
    group: 'Write',
    options: [
      { flags: '-w, --watch', text: 'run them again when a workflow, a test or an action changes, until q or Ctrl-C' },
      JSON_OUTPUT,
    ],
    examples: [
      ['test', 'every *.test.yaml and *.test.ts below here'],
      ['test order.test.yaml', 'one file'],
      ['test --watch', 'while you write'],
    ],
    notes: 'Ends with 0 when all passed, with 1 when one did not, with 2 when a file cannot be read.',
    load: () => import('../commands/test.ts'),
  },
  {
    name: 'types',
    takes: '[files...]',
    summary: 'write TypeScript types for actions and workflows',
    group: 'Write',
    options: [
      { flags: '-o, --out <file>', text: 'write them to this file, if they are new' },
      ...LOCATION,
      JSON_OUTPUT,
    ],
    examples: [
      ['types -o nebula.types.ts', 'of the actions here, and the workflows of the project and its data folder'],
      ['types order.yaml', 'of one workflow, on stdout'],
    ],
    load: () => import('../commands/write-types.ts'),
  },
  {
    name: 'eval',
    takes: '<expression>',
    summary: 'evaluate an expression',
    group: 'Write',
    options: [
      { flags: '-d, --data <json>', text: 'the $input: JSON, @file, or - for stdin' },
      { flags: '--vars <json>', text: 'the $vars' },
      { flags: '--nodes <json>', text: 'outputs of nodes by id, for $nodes.<id>.output' },
      JSON_OUTPUT,
    ],
    examples: [
      ["eval '1 + 2 * 3'", 'calculate'],
      ["eval '$input.items.filter(i => i.qty > 1).length' --data @order.json", 'try what a workflow will do'],
      ["eval '$..price' --data @order.json", 'JSONPath over the data'],
    ],
    notes: 'An expression may also be a template: `Hello {{ $input.name }}`.',
    load: () => import('../commands/eval.ts'),
  },
  {
    name: 'actions',
    takes: '[name]',
    summary: 'list the actions, or tell all about one',
    group: 'Write',
    options: [...LOCATION, JSON_OUTPUT],
    examples: [
      ['actions', 'what workflows here can use'],
      ['actions http.request', 'its input, output, effect and capabilities'],
    ],
    load: () => import('../commands/actions.ts'),
  },
  {
    name: 'schema',
    takes: '',
    summary: 'print the JSON Schema of workflow files',
    group: 'Write',
    options: [JSON_OUTPUT],
    examples: [['schema > workflow.schema.json', 'for completion in an editor']],
    load: () => import('../commands/schema.ts'),
  },
];

/** Commands for authors of workflows. */
import { type CommandSpec, JSON_OUTPUT, LOCATION } from './spec.ts';

export const WRITE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'init',
    takes: '[folder]',
    summary: 'create a project: an example workflow, an action and a test',
    group: 'Write',
    options: [
      { flags: '--force', text: 'write into a folder that is not empty; existing files are kept' },
      JSON_OUTPUT,
    ],
    examples: [
      ['init my-project', 'in a new folder'],
      ['init', 'in the current folder'],
    ],
    load: () => import('../commands/init.ts'),
  },
  {
    name: 'validate',
    takes: '<files...>',
    summary: 'report every problem of workflow files',
    group: 'Write',
    options: [{ flags: '--strict', text: 'treat warnings as errors' }, ...LOCATION, JSON_OUTPUT],
    examples: [
      ['validate order.yaml', 'check one file'],
      ['validate workflows/*.yaml --strict', 'fail on warnings, too'],
      ['validate workflows/*.yaml --json', 'check many, for an editor or CI'],
      ['validate order.yaml --server https://flows.example.com', 'against the actions of a server'],
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
    summary: 'run the tests of workflows',
    group: 'Write',
    options: [
      { flags: '-w, --watch', text: 'run them again when a workflow, a test or an action changes, until q or Ctrl-C' },
      JSON_OUTPUT,
    ],
    examples: [
      ['test', 'every *.test.yaml and *.test.ts below the current folder'],
      ['test order.test.yaml', 'one file'],
      ['test --watch', 'while you write'],
    ],
    notes: 'Exits with 0 if all tests pass, with 1 if one fails, with 2 if a file cannot be read.',
    load: () => import('../commands/test.ts'),
  },
  {
    name: 'types',
    takes: '[files...]',
    summary: 'write TypeScript types for actions and workflows',
    group: 'Write',
    options: [
      { flags: '-o, --out <file>', text: 'write to this file if the types have changed' },
      ...LOCATION,
      JSON_OUTPUT,
    ],
    examples: [
      ['types -o nebula.types.ts', 'all actions, and the workflows of the project and its data folder'],
      ['types order.yaml', 'one workflow, on stdout'],
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
      { flags: '--nodes <json>', text: 'outputs by node id, for $nodes.<id>.output' },
      JSON_OUTPUT,
    ],
    examples: [
      ["eval '1 + 2 * 3'", 'calculate'],
      ["eval '$input.items.filter(i => i.qty > 1).length' --data @order.json", 'try an expression of a workflow'],
      ["eval '$..price' --data @order.json", 'JSONPath over the data'],
    ],
    notes: 'An expression may also be a template: `Hello {{ $input.name }}`.',
    load: () => import('../commands/eval.ts'),
  },
  {
    name: 'actions',
    takes: '[name]',
    summary: 'list actions, or describe one',
    group: 'Write',
    options: [...LOCATION, JSON_OUTPUT],
    examples: [
      ['actions', 'the actions that workflows here can use'],
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

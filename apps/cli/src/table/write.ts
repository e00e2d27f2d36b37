/** Commands for authors of workflows, and about the program itself. */
import { AT, commands, JSON_OUTPUT } from './spec.ts';

export const WRITE_COMMANDS = commands('Write', [
  {
    usage: 'init [folder]',
    summary: 'create a project: an example workflow, an action and a test',
    options: [
      { flags: '--force', text: 'write into a folder that is not empty; existing files are kept' },
      JSON_OUTPUT,
    ],
    examples: [
      ['init my-project', 'in a new folder'],
      ['init', 'in the current folder'],
    ],
    load: async () => (await import('../commands/init.ts')).execute,
  },
  {
    usage: 'validate <files...>',
    summary: 'report every problem of workflow files',
    options: [{ flags: '--strict', text: 'treat warnings as errors' }, ...AT],
    examples: [
      ['validate order.yaml', 'check one file'],
      ['validate workflows/*.yaml --strict', 'fail on warnings, too'],
      ['validate workflows/*.yaml --json', 'check many, for an editor or CI'],
      ['validate order.yaml --server https://flows.example.com', 'against the actions of a server'],
    ],
    load: async () => (await import('../commands/validate.ts')).execute,
  },
  {
    usage: 'graph <file>',
    summary: 'draw a workflow',
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
    load: async () => (await import('../commands/graph.ts')).execute,
  },
  {
    usage: 'test [files...]',
    summary: 'run the tests of workflows',
    options: [
      { flags: '-w, --watch', text: 'run them again when a workflow, a test or an action changes, until q or Ctrl-C' },
      { flags: '--against-runs [count]', text: 'decide the last runs of these workflow files again (default: 20)' },
      ...AT,
    ],
    examples: [
      ['test', 'every *.test.yaml and *.test.ts below the current folder'],
      ['test order.test.yaml', 'one file'],
      ['test --watch', 'while you write'],
      ['test order.yaml --against-runs 50', 'where the edited file would decide otherwise than the last 50 runs'],
    ],
    notes: 'Exits with 0 if all tests pass, with 1 if one fails, with 2 if a file cannot be read.',
    load: async () => (await import('../commands/test.ts')).execute,
  },
  {
    usage: 'types [files...]',
    summary: 'write TypeScript types for actions and workflows',
    options: [{ flags: '-o, --out <file>', text: 'write to this file if the types have changed' }, ...AT],
    examples: [
      ['types -o nebula.types.ts', 'all actions, and the workflows of the project and its data folder'],
      ['types order.yaml', 'one workflow, on stdout'],
    ],
    load: async () => (await import('../commands/write-types.ts')).execute,
  },
  {
    usage: 'eval <expression>',
    summary: 'evaluate an expression',
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
    load: async () => (await import('../commands/eval.ts')).execute,
  },
  {
    usage: 'actions [name]',
    summary: 'list actions, or describe one',
    options: AT,
    examples: [
      ['actions', 'the actions that workflows here can use'],
      ['actions http.request', 'its input, output, effect and capabilities'],
    ],
    load: async () => (await import('../commands/actions.ts')).execute,
  },
  {
    usage: 'schema',
    summary: 'print the JSON Schema of workflow files, with the actions of this project',
    options: [JSON_OUTPUT],
    examples: [['schema > workflow.schema.json', 'for completion in an editor']],
    load: async () => (await import('../commands/validate.ts')).schema,
  },
]);

export const MORE_COMMANDS = commands('More', [
  {
    usage: 'completion <shell>',
    summary: 'print a completion script for bash, zsh or fish',
    options: [],
    examples: [
      ['completion bash >> ~/.bashrc', 'bash'],
      ['completion zsh > ~/.zfunc/_nebula', 'zsh, with fpath+=~/.zfunc before compinit'],
      ['completion fish > ~/.config/fish/completions/nebula.fish', 'fish'],
    ],
    load: async () => (await import('../commands/completion.ts')).execute,
  },
]);

/** Commands about registered workflows: their versions, layouts and drafts. */
import { AT, commands, PROJECT } from './spec.ts';

const IN_PROJECT = { ...PROJECT, text: 'the project of the server (default: default)' };

export const WORKFLOW_COMMANDS = commands('Server', [
  {
    usage: 'workflows register <files...>',
    summary: 'store workflow files as versions and activate them',
    options: [
      { flags: '--no-activate', text: 'only store them; triggers do not change' },
      { ...PROJECT, text: 'the project of the server for new workflows (default: default)' },
      ...AT,
    ],
    examples: [
      ['workflows register order.yaml', 'turns its triggers on'],
      ['workflows register workflows/*.yaml --no-activate', 'without turning triggers on'],
    ],
    load: async () => (await import('../commands/workflows.ts')).register,
  },
  {
    usage: 'workflows list',
    summary: 'list registered workflows',
    options: [
      { flags: '--tag <tag>', text: 'only workflows that have this tag' },
      { flags: '--search <text>', text: 'only workflows with this text in id, name, description or a tag' },
      { flags: '--archived', text: 'archived workflows instead of the others' },
      PROJECT,
      ...AT,
    ],
    examples: [
      ['workflows list', 'with their versions'],
      ['workflows list --search invoice', 'found by a part of the name'],
      ['workflows list --tag billing', 'workflows with this tag'],
    ],
    load: async () => (await import('../commands/workflows.ts')).list,
  },
  {
    usage: 'workflows show <workflow>',
    summary: 'show a workflow: its versions, triggers and shape',
    options: [
      { flags: '--workflow-version <number>', text: 'this version instead of the active one' },
      { flags: '--source', text: 'print only the text of the version, as it was registered' },
      ...AT,
    ],
    examples: [
      ['workflows show order', 'the active version'],
      ['workflows show order --source > order.yaml', 'with comments, as its author wrote it'],
      ['workflows show order --json', 'with its definition'],
    ],
    load: async () => (await import('../commands/workflows.ts')).show,
  },
  {
    usage: 'workflows activate <workflow> [version]',
    summary: 'make a version active: triggers and starts use it',
    options: AT,
    examples: [
      ['workflows activate order', 'the newest version'],
      ['workflows activate order 3', 'an earlier version'],
    ],
    load: async () => (await import('../commands/workflows.ts')).activate,
  },
  {
    usage: 'workflows deactivate <workflow>',
    summary: 'turn the triggers of a workflow off',
    options: AT,
    examples: [['workflows deactivate order', 'open runs continue']],
    load: async () => (await import('../commands/workflows.ts')).deactivate,
  },
  {
    usage: 'workflows diff <workflow> <from> [to]',
    summary: 'show what changed between two versions',
    options: AT,
    examples: [
      ['workflows diff order 2 3', 'key by key'],
      ['workflows diff order 2', 'against the newest version'],
    ],
    load: async () => (await import('../commands/workflows.ts')).diff,
  },
  {
    usage: 'workflows compare <file> [version]',
    summary: 'show what registering a file would change in its workflow',
    options: AT,
    examples: [
      ['workflows compare order.yaml', 'against the version that was registered last'],
      ['workflows compare order.yaml 3', 'against an earlier version'],
    ],
    load: async () => (await import('../commands/workflows-compare.ts')).compare,
  },
  {
    usage: 'workflows rehearse <file>',
    summary: 'replay the last runs against a file, without running anything',
    options: [{ flags: '-n, --limit <count>', text: 'how many runs (default: 20, at most 50)' }, ...AT],
    examples: [['workflows rehearse order.yaml', 'would the last 20 runs have gone another way?']],
    notes: 'Exit code 1 if a run would differ. `nebula test FILE --against-runs` does the same in this process.',
    load: async () => (await import('../commands/rehearse.ts')).execute,
  },
  {
    usage: 'workflows archive <workflow>',
    summary: 'deactivate a workflow and leave it out of lists',
    options: AT,
    examples: [['workflows archive order', 'open runs continue; `workflows list --archived` shows it']],
    load: async () => (await import('../commands/workflows.ts')).archive,
  },
  {
    usage: 'workflows unarchive <workflow>',
    summary: 'bring an archived workflow back; it stays inactive',
    options: AT,
    examples: [['workflows unarchive order', 'then `workflows activate order`']],
    load: async () => (await import('../commands/workflows.ts')).unarchive,
  },
  {
    usage: 'workflows layout <workflow>',
    summary: 'show where nodes were moved by hand in the Studio',
    options: [{ flags: '--reset', text: 'forget these positions: the layout is automatic again' }, ...AT],
    examples: [['workflows layout order --reset', 'changes no version']],
    load: async () => (await import('../commands/workflows.ts')).layout,
  },
  {
    usage: 'drafts list',
    summary: 'list your own drafts of workflows',
    options: [IN_PROJECT, ...AT],
    examples: [['drafts list', 'drafts are kept for 30 days after they were saved last']],
    load: async () => (await import('../commands/drafts.ts')).list,
  },
  {
    usage: 'drafts show <workflow>',
    summary: 'print the text of your draft of a workflow',
    options: [IN_PROJECT, ...AT],
    examples: [['drafts show order > order.yaml', 'the text as it was saved']],
    load: async () => (await import('../commands/drafts.ts')).show,
  },
  {
    usage: 'drafts save <workflow> <file>',
    summary: 'save a file as your draft of a workflow',
    options: [IN_PROJECT, ...AT],
    examples: [['drafts save order order.yaml', 'to continue in the Studio']],
    load: async () => (await import('../commands/drafts.ts')).save,
  },
  {
    usage: 'drafts remove <workflow>',
    summary: 'delete your draft of a workflow',
    options: [IN_PROJECT, ...AT],
    examples: [['drafts remove order', 'registered versions stay']],
    load: async () => (await import('../commands/drafts.ts')).remove,
  },
]);

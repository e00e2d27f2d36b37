/** Commands about workflows that people edit: archiving, comparing, layouts and drafts. */
import { AT, commands, PROJECT } from './spec.ts';

const IN_PROJECT = { ...PROJECT, text: 'the project of the server (default: default)' };

export const EDIT_COMMANDS = commands('Server', [
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

/** Commands about the program itself. */
import type { CommandSpec } from './spec.ts';

export const MORE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'completion',
    takes: '<shell>',
    summary: 'print a completion script for bash, zsh or fish',
    group: 'More',
    options: [],
    examples: [
      ['completion bash >> ~/.bashrc', 'bash'],
      ['completion zsh > ~/.zfunc/_nebula', 'zsh, with fpath+=~/.zfunc before compinit'],
      ['completion fish > ~/.config/fish/completions/nebula.fish', 'fish'],
    ],
    load: () => import('../commands/completion.ts'),
  },
];

/** Builds the parser and the help from the table of commands. */
import { Command, type CommanderError, Option } from 'commander';
import { COMMANDS } from './command-table.ts';
import { ownVersion } from './own-version.ts';
import type { CommandOptions, Context } from './services.ts';
import { type CommandSpec, FAMILIES, familyNamed, GROUPS, type Group } from './table/spec.ts';
import { type Colors, readingWidth } from './terminal/io.ts';
import { column, wrap } from './terminal/width.ts';

const MAX_HELP_COLUMNS = 110;
/** With fewer columns left, the summary of a command goes below its name. */
const MIN_TEXT_COLUMNS = 18;
/** Words that are allowed without a command. */
const BARE_WORDS = ['--no-color', '--debug', '--'];

/** Resolves to the exit code. Rejects with commander's error on wrong usage. */
export async function runProgram(context: Context, argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  const root = baseCommand(context, 'nebula')
    .version(await ownVersion(), '-V, --version', 'print the version')
    .option('--no-color', 'no colours, as NO_COLOR does')
    .option('--debug', 'show where errors come from, as NEBULA_DEBUG=1 does');
  const families = new Map<string, Command>();
  const words = argv.filter((word) => !word.startsWith('-'));
  for (const spec of commandsFor(words)) {
    const [first = '', second] = spec.name.split(' ');
    let parent = root;
    if (second !== undefined) {
      parent = families.get(first) ?? familyCommand(context, root, first);
      families.set(first, parent);
    }
    const command = declare(context, parent, spec, second ?? first);
    // A command may have commands of its own: `backup FILE` and `backup verify FILE`.
    if (second === undefined && FAMILIES[first] === undefined) families.set(first, command.helpCommand(false));
    command.action(async (...parsed: unknown[]) => {
      const words = command.processedArgs.flat().filter((word) => word !== undefined) as string[];
      const options = parsed.at(-2) as CommandOptions;
      exitCode = await (await spec.load())({ ...context, options }, words);
    });
  }
  const asksForHelp = argv.some((word) => ['-h', '--help', '-V', '--version'].includes(word));
  if (argv.every((word) => BARE_WORDS.includes(word)) && !asksForHelp) {
    context.io.out.write(overview(context));
    return exitCode;
  }
  const family = words.length === 1 ? familyNamed(words[0] as string) : undefined;
  if (family !== undefined) {
    families.get(family)?.outputHelp();
    return exitCode;
  }
  // With `help nope` commander prints all help as an error; without `help` it reports the unknown command.
  const isHelpless = words[0] === 'help' && words.length > 1 && !knows(root, words[1] as string);
  const asked = isHelpless ? argv.toSpliced(argv.indexOf('help'), 1) : argv;
  await root.parseAsync(helpLast(asked), { from: 'user' });
  return exitCode;
}

/** `nebula -h run` means `nebula run -h`. */
function helpLast(argv: readonly string[]): string[] {
  const [first = '', ...rest] = argv;
  const isAhead = (first === '-h' || first === '--help') && rest[0]?.startsWith('-') === false;
  return isAhead ? [...rest, first] : [...argv];
}

/**
 * The commands that begin with the first word, or all for help and suggestions: each declared command costs CPU time.
 * Of a command that has commands of its own, only the one that is meant: it would take their options.
 */
function commandsFor([word = '', second]: readonly string[]): readonly CommandSpec[] {
  const first = familyNamed(word) ?? word;
  const named = COMMANDS.filter(({ name }) => name.split(' ')[0] === first);
  if (named.length > 1 && named.some(({ name }) => name === first)) {
    const nested = named.filter(({ name }) => name === `${first} ${second}`);
    return nested.length > 0 ? nested : named.filter(({ name }) => name === first);
  }
  return named.length > 0 ? named : COMMANDS;
}

function knows(root: Command, word: string): boolean {
  return root.commands.some((command) => isCalled(command, word));
}

function isCalled(command: Command, word: string): boolean {
  return command.name() === word || command.aliases().includes(word);
}

function baseCommand({ io }: Context, name: string): Command {
  const { colors } = io.out;
  return new Command(name)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out.write(text), writeErr: () => undefined })
    .configureHelp({
      helpWidth: Math.min(io.out.columns(), MAX_HELP_COLUMNS),
      minWidthToWrap: MIN_TEXT_COLUMNS,
      styleTitle: (text) => colors.bold(text),
      styleSubcommandText: (text) => colors.cyan(text),
      styleOptionText: (text) => colors.cyan(text),
      styleArgumentText: (text) => colors.cyan(text),
      visibleCommands: (command) => command.commands.filter((child) => child.name() !== 'help'),
    })
    .helpOption('-h, --help', 'print this help')
    .showSuggestionAfterError(true)
    .allowExcessArguments(false);
}

function familyCommand(context: Context, root: Command, name: string): Command {
  const { about = '', alias } = FAMILIES[name] ?? {};
  const family = baseCommand(context, name).description(`${capital(about)}.`);
  if (alias !== undefined) family.alias(alias);
  family.helpCommand(false);
  root.addCommand(family);
  return family;
}

function declare(context: Context, parent: Command, spec: CommandSpec, word: string): Command {
  const command = baseCommand(context, word).description(`${capital(spec.summary)}.`);
  parent.addCommand(command);
  for (const argument of spec.takes.split(' ').filter((part) => part !== '')) command.argument(argument);
  for (const { flags, text, choices, repeatable } of spec.options) {
    const option = new Option(flags, text);
    if (choices !== undefined) option.choices(choices);
    if (repeatable) {
      const parseOne = option.parseArg;
      option.argParser((value: string, previous: readonly string[] | undefined) => {
        if (choices !== undefined && parseOne !== undefined) parseOne(value, undefined);
        return [...(previous ?? []), value];
      });
    }
    command.addOption(option);
  }
  command.addHelpText('after', () => examplesText(context, spec));
  return command;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function examplesText({ io, program }: Context, spec: CommandSpec): string {
  const { colors } = io.out;
  const width = Math.min(io.out.columns(), MAX_HELP_COLUMNS);
  const lines = spec.examples.flatMap(([words, purpose]) => [
    ...wrap(purpose, width - 4).map((line) => `  ${colors.dim(`# ${line}`)}`),
    `  ${program} ${words}`,
  ]);
  const notes = spec.notes === undefined ? '' : `\n${wrap(spec.notes, width).join('\n')}\n`;
  return `${notes}\n${colors.bold('Examples:')}\n${lines.join('\n')}`;
}

/** The output of `nebula` without arguments: one line per command, in groups. */
function overview({ io, program }: Context): string {
  const { colors } = io.out;
  const width = Math.max(...COMMANDS.map((spec) => spec.name.length)) + 2;
  const lines = [...wrap(`${colors.bold('nebula')}: durable workflows from a YAML file`, readingWidth(io.out)), ''];
  for (const group of GROUPS) lines.push(...groupLines(group, width, readingWidth(io.out), colors), '');
  lines.push(
    `${colors.dim('start here')}   ${program} demo`,
    `${colors.dim('about one')}    ${program} <command> --help`,
    '',
  );
  return lines.join('\n');
}

function groupLines(group: Group, nameCells: number, width: number, colors: Colors): string[] {
  const room = width - 2 - nameCells;
  const lines = COMMANDS.filter((spec) => spec.group === group).flatMap(({ name, summary }) => {
    if (room < MIN_TEXT_COLUMNS)
      return [`  ${colors.cyan(name)}`, ...wrap(summary, width - 4).map((line) => `    ${line}`)];
    const [first = '', ...rest] = wrap(summary, room);
    const indent = ' '.repeat(2 + nameCells);
    return [`  ${colors.cyan(column(name, nameCells))}${first}`, ...rest.map((line) => indent + line)];
  });
  return [colors.bold(group), ...lines];
}

/** Turns commander's error into message and hint; its suggestion becomes the hint. */
export function usageFailure(
  error: CommanderError,
  program: string,
  argv: readonly string[],
): { message: string; hint: string } {
  // Arguments are cut from the message: a misplaced secret may be among them.
  const text = error.message.replace(/^error: /, '').replace(/( but got \d+): .*$/s, '$1');
  const [message = '', suggestion] = text.split(/\n/);
  const guess = /\(Did you mean (.*)\?\)/.exec(suggestion ?? '')?.[1];
  if (guess !== undefined) return { message, hint: `did you mean ${guess}?` };
  const words = argv.filter((word) => !word.startsWith('-'));
  const known = COMMANDS.find(({ name }) => name === words[0] || name === words.slice(0, 2).join(' '));
  const hint = known === undefined ? `${program} lists the commands` : `${program} ${known.name} --help`;
  return { message, hint };
}

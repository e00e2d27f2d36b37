/** Reads the instructions of a Dockerfile, as far as this repository's uses them. */

export interface Stage {
  /** From `AS name`; the last stage may have none. */
  readonly name: string | undefined;
  readonly image: string;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly instruction: string;
  readonly text: string;
}

export function stagesOf(dockerfile: string): Stage[] {
  const stages: { name: string | undefined; image: string; steps: Step[] }[] = [];
  for (const line of dockerfile.replaceAll('\\\n', ' ').split('\n')) {
    const [, instruction, text] = /^([A-Z]+)\s+(.+)$/.exec(line.trim()) ?? [];
    if (instruction === undefined || text === undefined) {
      if (line.trim() !== '' && !line.startsWith('#')) throw new Error(`not an instruction: ${line}`);
    } else if (instruction === 'FROM') {
      const [image = '', , name] = text.split(/\s+/);
      stages.push({ name, image, steps: [] });
    } else {
      stages.at(-1)!.steps.push({ instruction, text });
    }
  }
  return stages;
}

/** The words of an instruction in JSON form, such as `CMD ["nebula", "serve"]`. */
export function wordsOf(stage: Stage, instruction: string): string[] {
  const text = stage.steps.findLast((step) => step.instruction === instruction)?.text;
  return text === undefined ? [] : (JSON.parse(text.slice(text.indexOf('['))) as string[]);
}

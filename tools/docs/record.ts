/**
 * `node tools/docs/record.ts`: runs the examples in a real terminal and makes the pictures of the documentation from
 * what it shows. Needs `script` (util-linux), as the tests of the documentation do.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Playground, ROOT } from './playground.ts';
import { Screen } from './screen.ts';
import { type Frame, filmSvg, stillSvg } from './terminal-svg.ts';

const PICTURES = path.join(ROOT, 'docs/pictures');
const COLUMNS = 92;
/** Fewer frames than the terminal paints: the eye is content with these, and the file stays small. */
const FRAME_MS = 240;
const ORDER = 'examples/order.yaml';

/** Runs a command in the playground and keeps what its screen looked like over time. */
async function film(playground: Playground, command: string): Promise<readonly Frame[]> {
  const screen = new Screen(COLUMNS);
  const frames: Frame[] = [];
  let beganMs: number | undefined;
  await playground.run(command, {
    columns: COLUMNS,
    onText: (text) => {
      beganMs ??= performance.now();
      screen.write(text);
      const nowMs = Math.round(performance.now() - beganMs);
      const last = frames.at(-1);
      const isSoon = last !== undefined && nowMs - last.atMs < FRAME_MS;
      if (isSoon) frames.pop();
      frames.push({ atMs: isSoon ? last.atMs : nowMs, lines: screen.lines() });
    },
  });
  return frames;
}

async function still(playground: Playground, name: string, command: string, title: string): Promise<void> {
  const frames = await film(playground, command);
  writeFileSync(path.join(PICTURES, name), stillSvg(title, COLUMNS, frames.at(-1)!.lines));
}

const SERVED = 'Ctrl-C stops it';

/** The output of a server at its start. */
async function served(playground: Playground): Promise<void> {
  const frames = await film(playground, 'timeout -s TERM 6 npx nebula serve');
  const text = ({ lines }: Frame): string => lines.flatMap((runs) => runs.map((run) => run.text)).join(' ');
  const screen = frames.find((frame) => text(frame).includes(SERVED));
  if (screen === undefined) throw new Error('the server did not say that it is there');
  writeFileSync(path.join(PICTURES, 'serve.svg'), stillSvg('npm start', COLUMNS, screen.lines));
}

if (import.meta.main) {
  const playground = new Playground();
  try {
    const title = `npx nebula run ${ORDER}`;
    const frames = await film(playground, title);
    const run = filmSvg({ title, columns: COLUMNS, frames, holdMs: 5_000, stillMs: 5_400 });
    writeFileSync(path.join(PICTURES, 'run.svg'), run);
    await still(playground, 'timeline.svg', 'npx nebula executions timeline exe_…', 'npx nebula executions timeline');
    await served(playground);
    const broken = readFileSync(path.join(ROOT, ORDER), 'utf8')
      .replace('$total <= 5000', '$totl <= 5000')
      .replace('payment.charge@1', 'payment.chrage@1');
    playground.write(ORDER, broken);
    await still(playground, 'errors.svg', `npx nebula validate ${ORDER} || true`, `npx nebula validate ${ORDER}`);
  } finally {
    playground.remove();
  }
}

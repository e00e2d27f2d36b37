import { describe, expect, test } from 'vitest';
import { wantsColours } from '../src/terminal/io.ts';
import { Screen } from '../src/terminal/screen.ts';
import { memoryOutput } from './support/screen-text.ts';
import { Terminal } from './support/terminal.ts';

function open(columns = 20) {
  const output = memoryOutput({ live: true, columns });
  const terminal = new Terminal(columns);
  let seen = 0;
  const look = (): string[] => {
    terminal.write(output.text().slice(seen));
    seen = output.text().length;
    return terminal.screen();
  };
  return { output, terminal, look, screen: new Screen(output) };
}

describe('screen', () => {
  test('[CLI-54] a painting takes the place of the last one, also when it is shorter', () => {
    const { screen, look } = open();
    screen.paint(['one', 'two', 'three']);
    expect(look()).toEqual(['one', 'two', 'three', '']);
    screen.paint(['ONE', 'TWO']);
    expect(look()).toEqual(['ONE', 'TWO', '']);
    screen.print(['said']);
    screen.paint(['x']);
    expect(look()).toEqual(['said', 'x', '']);
    screen.close();
  });

  test('[CLI-54] lines are cut to the width, and one painting is one write', () => {
    const { screen, output } = open(10);
    let writes = 0;
    const counting = { ...output, write: () => writes++ } as typeof output;
    screen.paint(['a line that is too long']);
    expect(output.text()).toContain('a line th…');
    const second = new Screen(counting);
    second.paint(['a']);
    writes = 0;
    second.paint(['b', 'c']);
    expect(writes).toBe(1);
    screen.close();
    second.close();
  });

  test('[CLI-54] after the terminal became narrower the way up is counted in its new rows', () => {
    const { screen, output } = open(20);
    screen.paint(['x'.repeat(20), 'short']);
    output.resize(10, 24);
    const before = output.text().length;
    screen.paint(['y']);
    // The 20 cells of the first line now take two rows.
    expect(output.text().slice(before)).toContain('\x1b[3A');
    screen.close();
  });

  test('[CLI-55] the cursor is hidden until the end, and shown again when the process leaves in between', () => {
    const { screen, terminal, look } = open();
    screen.paint(['x']);
    look();
    expect(terminal.isCursorShown).toBe(false);
    screen.close();
    look();
    expect(terminal.isCursorShown).toBe(true);

    const before = process.listeners('exit');
    const other = open();
    other.screen.paint(['x']);
    const added = process.listeners('exit').filter((listener) => !before.includes(listener));
    expect(added).toHaveLength(1);
    added[0]?.call(process, 0);
    other.look();
    expect(other.terminal.isCursorShown).toBe(true);
    other.screen.close();
    expect(process.listeners('exit')).toEqual(before);
  });
});

describe('colours', () => {
  test('[CLI-10] NO_COLOR, then FORCE_COLOR, then the terminal', () => {
    expect(wantsColours({}, true)).toBe(true);
    expect(wantsColours({}, false)).toBe(false);
    expect(wantsColours({ TERM: 'dumb' }, true)).toBe(false);
    expect(wantsColours({ NO_COLOR: '1', FORCE_COLOR: '1' }, true)).toBe(false);
    expect(wantsColours({ NO_COLOR: '' }, true)).toBe(true);
    expect(wantsColours({ FORCE_COLOR: '1' }, false)).toBe(true);
    expect(wantsColours({ FORCE_COLOR: '0' }, true)).toBe(false);
    expect(wantsColours({ FORCE_COLOR: '1', TERM: 'dumb' }, false)).toBe(true);
  });
});

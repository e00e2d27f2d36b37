import { describe, expect, it } from 'vitest';
import { NODE_STATUSES } from '../src/model/index.ts';
import { THEMES } from '../src/view/theme.ts';

/** The contrast of two colours after WCAG 2. */
function contrast(a: string, b: string): number {
  const light = (colour: string): number => {
    const channels = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
    const [red, green, blue] = channels.map((value) =>
      value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
  };
  const [dark, bright] = [light(a), light(b)].sort((one, other) => one - other);
  return (bright! + 0.05) / (dark! + 0.05);
}

describe.each(Object.entries(THEMES))('the theme %s', (_, theme) => {
  it('[CNV-47] has texts that can be read', () => {
    for (const surface of [theme.surface, theme.background, theme.tile]) {
      expect(contrast(theme.text, surface)).toBeGreaterThan(4.5);
      expect(contrast(theme.mutedText, surface)).toBeGreaterThan(4.5);
      expect(contrast(theme.icon, surface)).toBeGreaterThan(4.5);
    }
    expect(contrast(theme.badgeText, theme.error)).toBeGreaterThan(4.5);
    expect(contrast(theme.badgeText, theme.warning)).toBeGreaterThan(4.5);
  });

  it('[CNV-47] has glyphs and lines that are seen', () => {
    for (const status of NODE_STATUSES)
      expect(contrast(theme.status[status], theme.surface), status).toBeGreaterThan(3);
    for (const colour of [theme.selection, theme.past, ...Object.values(theme.change)])
      expect(contrast(colour, theme.background)).toBeGreaterThan(3);
  });
});

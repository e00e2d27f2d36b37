/**
 * A terminal window as SVG: a still picture of one screen, or a film of several.
 *
 * In a film every line is drawn once for each thing it says, and shown while it says so; lines that never change cost
 * nothing. Who asked their system for less motion sees the still frame.
 */
import type { Colour, Run, Style } from './screen.ts';

export interface Frame {
  readonly atMs: number;
  readonly lines: readonly (readonly Run[])[];
}

export interface Film {
  readonly title: string;
  readonly columns: number;
  readonly frames: readonly Frame[];
  /** How long the last frame stays before the film begins again. */
  readonly holdMs: number;
  /** The time of the frame that is shown to viewers who asked for less motion. */
  readonly stillMs: number;
}

const CELL = { width: 8.4, height: 20, font: 14 };
const BAR_HEIGHT = 40;
const PADDING = { x: 22, top: 14, bottom: 22 };

const INK: Readonly<Record<Colour | 'plain', string>> = {
  plain: '#d5deeb',
  red: '#ff8590',
  green: '#7ddfa3',
  yellow: '#f4ca7a',
  blue: '#86b4ff',
  magenta: '#c9a6ff',
  cyan: '#76d9e6',
  grey: '#77839a',
};

export function stillSvg(title: string, columns: number, lines: readonly (readonly Run[])[]): string {
  return filmSvg({ title, columns, frames: [{ atMs: 0, lines }], holdMs: 0, stillMs: 0 });
}

export function filmSvg(film: Film): string {
  const rows = Math.max(...film.frames.map(({ lines }) => lines.length));
  const width = Math.ceil(film.columns * CELL.width + 2 * PADDING.x);
  const height = BAR_HEIGHT + PADDING.top + rows * CELL.height + PADDING.bottom;
  const { drawing, rules } = scenes(film, rows);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(film.title)}">
<title>${escapeXml(film.title)}</title>
<defs>
<linearGradient id="night" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="#141a2b"/><stop offset="1" stop-color="#0b0f1a"/></linearGradient>
<radialGradient id="glow" cx="0.85" cy="0" r="0.9"><stop offset="0" stop-color="#6c5cff" stop-opacity="0.16"/><stop offset="1" stop-color="#6c5cff" stop-opacity="0"/></radialGradient>
</defs>
<style>
text{font-family:ui-monospace,SFMono-Regular,"SF Mono",Menlo,"Cascadia Mono",Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:${CELL.font}px;white-space:pre;fill:${INK.plain}}
${Object.entries(INK)
  .filter(([name]) => name !== 'plain')
  .map(([name, ink]) => `.${name}{fill:${ink}}`)
  .join('')}
.bold{font-weight:700}.dim{opacity:.58}.name{fill:#8a96ad;font-size:13px}
${rules}</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="12" fill="url(#night)" stroke="#2a3348"/>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="12" fill="url(#glow)"/>
<path d="M0.5 ${BAR_HEIGHT}H${width - 0.5}" stroke="#222a3d"/>
<circle cx="24" cy="20" r="6" fill="#ff6159"/><circle cx="44" cy="20" r="6" fill="#ffbd2e"/><circle cx="64" cy="20" r="6" fill="#2ac840"/>
<text class="name" x="${width / 2}" y="25" text-anchor="middle">${escapeXml(film.title)}</text>
<g transform="translate(${PADDING.x} ${BAR_HEIGHT + PADDING.top})">
${drawing.join('\n')}
</g>
</svg>
`;
}

interface Scene {
  readonly runs: readonly Run[];
  readonly fromMs: number;
  readonly toMs: number;
}

function scenes(film: Film, rows: number): { drawing: string[]; rules: string } {
  const { frames, holdMs, stillMs } = film;
  const endMs = frames.at(-1)!.atMs + holdMs;
  const drawing: string[] = [];
  const rules: string[] = [];
  for (let row = 0; row < rows; row++) {
    for (const scene of scenesOfRow(frames, row, endMs)) {
      if (scene.runs.length === 0) continue;
      const isAlways = scene.fromMs === 0 && scene.toMs === endMs;
      const isStill = scene.fromMs <= stillMs && stillMs < scene.toMs;
      const name = `s${drawing.length}`;
      if (!isAlways) rules.push(sceneRule(name, scene, endMs));
      const classes = isAlways ? '' : ` id="${name}" class="scene${isStill ? ' still' : ''}"`;
      drawing.push(`<g${classes}>${scene.runs.map((run) => runText(run, row)).join('')}</g>`);
    }
  }
  if (rules.length === 0) return { drawing, rules: '' };
  // This is also shown by viewers that do not support animation.
  const still = '.scene{visibility:hidden}.still{visibility:visible}';
  const base = `.scene{animation-duration:${endMs}ms;animation-timing-function:step-end;animation-iteration-count:infinite}`;
  const moving = `@media (prefers-reduced-motion:no-preference){${base}\n${rules.join('\n')}}`;
  return { drawing, rules: `${still}\n${moving}\n` };
}

function scenesOfRow(frames: readonly Frame[], row: number, endMs: number): Scene[] {
  const found: (Scene & { readonly key: string })[] = [];
  for (const [at, { atMs, lines }] of frames.entries()) {
    const runs = lines[row] ?? [];
    const toMs = frames[at + 1]?.atMs ?? endMs;
    const key = JSON.stringify(runs);
    const last = found.at(-1);
    if (last?.key === key) found[found.length - 1] = { ...last, toMs };
    else found.push({ runs, fromMs: at === 0 ? 0 : atMs, toMs, key });
  }
  return found;
}

function sceneRule(name: string, { fromMs, toMs }: Scene, endMs: number): string {
  const percent = (ms: number) => `${+((ms / endMs) * 100).toFixed(2)}%`;
  const steps = [
    fromMs === 0 ? '' : '0%{visibility:hidden}',
    `${percent(fromMs)}{visibility:visible}`,
    toMs === endMs ? '' : `${percent(toMs)}{visibility:hidden}`,
    `100%{visibility:${toMs === endMs ? 'visible' : 'hidden'}}`,
  ];
  return `@keyframes ${name}{${steps.join('')}}#${name}{animation-name:${name}}`;
}

function runText({ column, text, style }: Run, row: number): string {
  return piecesOf(column, text)
    .map((piece) => (piece.isDrawn ? drawnText(piece, row, style) : plainText(piece, row, style)))
    .join('');
}

interface Piece {
  readonly column: number;
  readonly text: string;
  /** Made of lines and blocks, which fonts leave gaps between. */
  readonly isDrawn: boolean;
}

function piecesOf(column: number, text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = column;
  for (const part of text.match(DRAWN) ?? []) {
    pieces.push({ column: at, text: part, isDrawn: LINES[part[0]!] !== undefined || part.startsWith('█') });
    at += [...part].length;
  }
  return pieces;
}

/** The length is given, so that columns stand under each other whatever font the reader has. */
function plainText({ column, text }: Piece, row: number, style: Style): string {
  const trimmed = text.trimEnd();
  if (trimmed === '') return '';
  const x = +(column * CELL.width).toFixed(1);
  const y = row * CELL.height + 15;
  const length = +([...trimmed].length * CELL.width).toFixed(1);
  return `<text x="${x}" y="${y}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${classesOf(style)}>${escapeXml(trimmed)}</text>`;
}

/** The strokes of a character from the middle of its cell: up, right, down, left. */
const LINES: Readonly<Record<string, string>> = {
  '─': 'rl',
  '━': 'rl',
  '│': 'ud',
  '╭': 'rd',
  '╮': 'dl',
  '╰': 'ur',
  '╯': 'ul',
  '├': 'urd',
  '┤': 'udl',
  '┬': 'rdl',
  '┴': 'url',
  '┼': 'urdl',
};
const DRAWN = /█+|━+|[─│╭╮╰╯├┤┬┴┼]+|[^█━─│╭╮╰╯├┤┬┴┼]+/gu;

function drawnText({ column, text }: Piece, row: number, style: Style): string {
  const [x, y] = [column * CELL.width, row * CELL.height];
  const length = [...text].length * CELL.width;
  const ink = INK[style.colour ?? 'plain'];
  const faint = style.dim ? ' opacity=".58"' : '';
  if (text.startsWith('█')) {
    return `<rect x="${+x.toFixed(1)}" y="${y + 4}" width="${+length.toFixed(1)}" height="${CELL.height - 8}" rx="2.5" fill="${ink}"${faint}/>`;
  }
  const isHeavy = text.startsWith('━');
  const strokes = isHeavy
    ? `M${+x.toFixed(1)} ${y + CELL.height / 2}h${+length.toFixed(1)}`
    : [...text].map((character, index) => strokesOf(character, x + index * CELL.width, y)).join('');
  return `<path d="${strokes}" stroke="${ink}" stroke-width="${isHeavy ? 3 : 1.2}" fill="none"${faint}/>`;
}

function strokesOf(character: string, left: number, top: number): string {
  const round = (value: number) => +value.toFixed(1);
  const [x, y] = [round(left + CELL.width / 2), round(top + CELL.height / 2)];
  const ends: Readonly<Record<string, string>> = {
    u: `${x} ${round(top)}`,
    r: `${round(left + CELL.width)} ${y}`,
    d: `${x} ${round(top + CELL.height)}`,
    l: `${round(left)} ${y}`,
  };
  const directions = [...LINES[character]!];
  if ('╭╮╰╯'.includes(character)) return `M${ends[directions[0]!]}Q${x} ${y} ${ends[directions[1]!]}`;
  return directions.map((direction) => `M${x} ${y}L${ends[direction]}`).join('');
}

function classesOf({ colour, bold, dim }: Style): string {
  const names = [...(colour === undefined ? [] : [colour]), ...(bold ? ['bold'] : []), ...(dim ? ['dim'] : [])];
  return names.length === 0 ? '' : ` class="${names.join(' ')}"`;
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (found) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[found]!);
}

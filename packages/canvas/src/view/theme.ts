/** Colours and lines of the drawing. A status always has a glyph, too: nothing depends on colour alone. */
import type { DrawnStatus } from '../model/run-state.ts';

export interface Theme {
  readonly background: string;
  readonly dots: string;
  readonly surface: string;
  /** The tile behind an icon, and other surfaces on a card. */
  readonly tile: string;
  readonly icon: string;
  readonly groupSurface: string;
  readonly groupHeader: string;
  readonly border: string;
  readonly strongBorder: string;
  readonly text: string;
  readonly mutedText: string;
  readonly edge: string;
  readonly takenEdge: string;
  readonly dimEdge: string;
  readonly selection: string;
  /** A thin shadow below cards; transparent: none. */
  readonly shadow: string;
  /** Violet means the past, and nothing else. */
  readonly past: string;
  readonly change: Readonly<Record<'added' | 'removed' | 'changed', string>>;
  readonly warning: string;
  readonly error: string;
  /** Text on a badge. */
  readonly badgeText: string;
  readonly status: Readonly<Record<DrawnStatus, string>>;
  /** Nodes from afar are filled: what is over stays quiet. */
  readonly far: Readonly<Record<DrawnStatus | 'none' | 'dim', string>>;
  /** How much of its colour a node shows that needs attention. */
  readonly tint: number;
  /** The opacity of what is skipped, cancelled or disabled. */
  readonly off: number;
  /** Multiplies the width of borders. */
  readonly lineScale: number;
}

export type ThemeName = 'light' | 'dark' | 'contrast';

/** After Okabe and Ito: told apart with any kind of colour blindness. */
const LIGHT_STATUS: Theme['status'] = {
  pending: '#8A8F98',
  queued: '#2B84BD',
  running: '#0072B2',
  waiting: '#9A6500',
  completed: '#00795A',
  failed: '#C24A00',
  skipped: '#7C828B',
  cancelled: '#6B717A',
  unknown: '#A8457F',
};

const DARK_STATUS: Theme['status'] = {
  pending: '#737A84',
  queued: '#56B4E9',
  running: '#4DA3FF',
  waiting: '#E69F00',
  completed: '#2DBE91',
  failed: '#FF7A3D',
  skipped: '#737A84',
  cancelled: '#8A8F98',
  unknown: '#E08BBF',
};

export const THEMES: Readonly<Record<ThemeName, Theme>> = {
  light: {
    background: '#FBFAF8',
    dots: '#E3E1DB',
    surface: '#FFFFFF',
    tile: '#F2F0EC',
    icon: '#4F555E',
    groupSurface: 'rgba(84, 78, 64, 0.035)',
    groupHeader: 'rgba(84, 78, 64, 0.045)',
    border: '#D8D5CF',
    strongBorder: '#A9A7A1',
    text: '#1B1E24',
    mutedText: '#5F656E',
    edge: '#A3A6AB',
    takenEdge: '#5E656F',
    dimEdge: '#DCDAD5',
    selection: '#0072B2',
    shadow: 'rgba(60, 50, 30, 0.07)',
    past: '#7A4FD0',
    change: { added: '#00795A', removed: '#C24A00', changed: '#9A6500' },
    warning: '#9A6500',
    error: '#C24A00',
    badgeText: '#FFFFFF',
    status: LIGHT_STATUS,
    far: {
      ...LIGHT_STATUS,
      completed: '#A7CDC0',
      pending: '#D3D2CE',
      skipped: '#E2E0DC',
      none: '#BDBBB5',
      dim: '#E9E7E3',
    },
    tint: 0.07,
    off: 0.72,
    lineScale: 1,
  },
  dark: {
    background: '#0E1116',
    dots: '#1E232B',
    surface: '#171B22',
    tile: '#222831',
    icon: '#AEB6C0',
    groupSurface: 'rgba(255, 255, 255, 0.025)',
    groupHeader: 'rgba(255, 255, 255, 0.03)',
    border: '#2E353F',
    strongBorder: '#4A525E',
    text: '#E8EAED',
    mutedText: '#98A0AB',
    edge: '#59626D',
    takenEdge: '#A1AAB5',
    dimEdge: '#2A3039',
    selection: '#4DA3FF',
    shadow: 'rgba(0, 0, 0, 0.35)',
    past: '#A78BFA',
    change: { added: '#2DBE91', removed: '#FF7A3D', changed: '#E69F00' },
    warning: '#E69F00',
    error: '#FF7A3D',
    badgeText: '#0E1116',
    status: DARK_STATUS,
    far: {
      ...DARK_STATUS,
      completed: '#1F5A48',
      pending: '#333A44',
      skipped: '#262C34',
      none: '#48505B',
      dim: '#1A1F26',
    },
    tint: 0.1,
    off: 0.72,
    lineScale: 1,
  },
  contrast: {
    background: '#000000',
    dots: '#000000',
    surface: '#000000',
    tile: '#000000',
    icon: '#FFFFFF',
    groupSurface: '#000000',
    groupHeader: '#000000',
    border: '#FFFFFF',
    strongBorder: '#FFFFFF',
    text: '#FFFFFF',
    mutedText: '#FFFFFF',
    edge: '#FFFFFF',
    takenEdge: '#FFFFFF',
    dimEdge: '#8A8F98',
    selection: '#FFFF00',
    shadow: 'transparent',
    past: '#C9B6FF',
    change: { added: '#2DBE91', removed: '#FF7A3D', changed: '#FFC04D' },
    warning: '#FFC04D',
    error: '#FF7A3D',
    badgeText: '#000000',
    status: { ...DARK_STATUS, pending: '#FFFFFF', skipped: '#C0C4CA', cancelled: '#C0C4CA' },
    far: {
      ...DARK_STATUS,
      pending: '#FFFFFF',
      skipped: '#8A8F98',
      cancelled: '#C0C4CA',
      none: '#FFFFFF',
      dim: '#5A6069',
    },
    tint: 0,
    off: 1,
    lineScale: 2,
  },
};

const SANS = '"IBM Plex Sans", "IBM Plex Sans Variable", system-ui, sans-serif';
const MONO = '"IBM Plex Mono", ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace';

export const FONTS = {
  label: `600 13px ${SANS}`,
  detail: `11.5px ${MONO}`,
  small: `11px ${SANS}`,
  badge: `600 10px ${SANS}`,
  letter: `600 14px ${SANS}`,
  /** Of nodes seen from far away. */
  far: `600 20px ${SANS}`,
} as const;

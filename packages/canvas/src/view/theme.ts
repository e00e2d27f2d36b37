/** Colours and lines of the drawing. A status always has a glyph, too: nothing depends on colour alone. */
import type { DrawnStatus } from '../model/run-state.ts';

export interface Theme {
  readonly background: string;
  readonly dots: string;
  readonly surface: string;
  readonly groupSurface: string;
  readonly border: string;
  readonly strongBorder: string;
  readonly text: string;
  readonly mutedText: string;
  readonly edge: string;
  readonly dimEdge: string;
  readonly selection: string;
  readonly status: Readonly<Record<DrawnStatus, string>>;
  /** Multiplies the width of borders. */
  readonly lineScale: number;
}

export type ThemeName = 'light' | 'dark' | 'contrast';

/** After Okabe and Ito: told apart with any kind of colour blindness. */
const LIGHT_STATUS: Theme['status'] = {
  pending: '#8A8F98',
  queued: '#2B84BD',
  running: '#0072B2',
  waiting: '#B77900',
  completed: '#00795A',
  failed: '#C24A00',
  skipped: '#8A8F98',
  cancelled: '#6B717A',
  unknown: '#A8457F',
};

const DARK_STATUS: Theme['status'] = {
  pending: '#6B717A',
  queued: '#56B4E9',
  running: '#4DA3FF',
  waiting: '#E69F00',
  completed: '#2DBE91',
  failed: '#FF7A3D',
  skipped: '#6B717A',
  cancelled: '#8A8F98',
  unknown: '#E08BBF',
};

export const THEMES: Readonly<Record<ThemeName, Theme>> = {
  light: {
    background: '#FBFAF8',
    dots: '#E4E2DD',
    surface: '#FFFFFF',
    groupSurface: 'rgba(30, 34, 42, 0.035)',
    border: '#D5D3CE',
    strongBorder: '#A9A7A1',
    text: '#1B1E24',
    mutedText: '#646A73',
    edge: '#9A9DA3',
    dimEdge: '#DAD8D3',
    selection: '#0072B2',
    status: LIGHT_STATUS,
    lineScale: 1,
  },
  dark: {
    background: '#0E1116',
    dots: '#1D222A',
    surface: '#171B22',
    groupSurface: 'rgba(255, 255, 255, 0.03)',
    border: '#2C323C',
    strongBorder: '#4A525E',
    text: '#E8EAED',
    mutedText: '#98A0AB',
    edge: '#5C6570',
    dimEdge: '#262C35',
    selection: '#4DA3FF',
    status: DARK_STATUS,
    lineScale: 1,
  },
  contrast: {
    background: '#000000',
    dots: '#000000',
    surface: '#000000',
    groupSurface: '#000000',
    border: '#FFFFFF',
    strongBorder: '#FFFFFF',
    text: '#FFFFFF',
    mutedText: '#FFFFFF',
    edge: '#FFFFFF',
    dimEdge: '#8A8F98',
    selection: '#FFFF00',
    status: { ...DARK_STATUS, pending: '#FFFFFF', skipped: '#C0C4CA', cancelled: '#C0C4CA' },
    lineScale: 2,
  },
};

export const FONTS = {
  label: '600 13px "IBM Plex Sans", system-ui, sans-serif',
  detail: '12px "IBM Plex Mono", ui-monospace, monospace',
  /** Of nodes seen from far away. */
  far: '600 20px "IBM Plex Sans", system-ui, sans-serif',
} as const;

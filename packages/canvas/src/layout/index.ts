export { type Direction, GROUP, type LayoutInput, type LayoutResult, layout } from './layout.ts';

export { wantsTraces } from './environment.ts';
export { openTelemetry, type TelemetryOptions } from './telemetry.ts';

export { openTelemetry, type TelemetryOptions, wantsTraces } from './telemetry.ts';

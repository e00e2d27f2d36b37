import { NebulaError } from '@nebula/core';

/** Whether the variables of OpenTelemetry name a collector. The SDK would send to localhost without being asked. */
export function wantsTraces(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return false;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!url) return false;
  // The SDK would say so in a log that nobody has turned on, and go on without traces.
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return true;
  throw new NebulaError('TRACES_URL_INVALID', `'${url.slice(0, 200)}' is no address for traces.`, {
    hint: 'OTEL_EXPORTER_OTLP_ENDPOINT is an http address, e.g. http://localhost:4318.',
  });
}

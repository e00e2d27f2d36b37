/**
 * Makes the span of an attempt OpenTelemetry's active one, so that spans of the action's own code nest under it, in a
 * server and in a worker alike.
 *
 * An SDK, whatever its version, is registered in one place of the process, which all versions 1.x of
 * `@opentelemetry/api` share. Nothing is loaded here, and without a registered SDK nothing happens.
 */

const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Opaque: the SDK makes and reads it. */
type Context = object;
type Carrier = Record<string, string>;

interface Sdk {
  readonly context?: { active(): Context; with<T>(context: Context, run: () => T): T };
  readonly propagation?: {
    extract(context: Context, carrier: Carrier, getter: typeof GETTER): Context;
    inject(context: Context, carrier: Carrier, setter: typeof SETTER): void;
  };
}

const GETTER = {
  keys: (carrier: Carrier): string[] => Object.keys(carrier),
  get: (carrier: Carrier, key: string): string | undefined => carrier[key],
};
const SETTER = {
  set(carrier: Carrier, key: string, value: string): void {
    carrier[key] = value;
  },
};

function registered(): Sdk {
  return (globalThis as { readonly [REGISTERED]?: Sdk })[REGISTERED] ?? {};
}

export function inSpan<T>(traceparent: string, run: () => T): T {
  const { context, propagation } = registered();
  if (context === undefined || propagation === undefined) return run();
  return context.with(propagation.extract(context.active(), { traceparent }, GETTER), run);
}

/** The active span at the call: that of the attempt, or one that the action began. */
export function activeTraceparent(): string | undefined {
  const { context, propagation } = registered();
  const carrier: Carrier = {};
  if (context !== undefined) propagation?.inject(context.active(), carrier, SETTER);
  return carrier.traceparent;
}

/** Large values at every place where a value from outside meets a schema: one task for each place. */

const COUNT = 99_000;

/** Thirteen steps for each text, of sixteen that are allowed. */
const TEXTS = { items: { allOf: Array(4).fill({ type: 'string', minLength: 1, maxLength: 9 }) } };
/** Seven steps: a value that is checked at once, within a decision, may cost 800,000. */
const FEWER_STEPS = { items: { allOf: Array(2).fill({ type: 'string', minLength: 1, maxLength: 9 }) } };

const FORM = { type: 'object', properties: { l: TEXTS } };
const FAR = 'far.checked';

/** Sends a request and returns the answer; throws if it is refused. */
export type Call = (line: string, body: unknown) => Promise<Record<string, unknown>>;

export interface CheckedValue {
  readonly name: string;
  act(): Promise<void>;
}

/** `far` calls a server with the action `test.checked`, `wide` one with `test.graph`. */
export function checkedValues(key: string, far: Call, wide: Call): readonly CheckedValue[] {
  const texts = (): string[] => Array.from({ length: COUNT }, (_, at) => `x${at % 100}`);
  const register = async (call: Call, definition: object, more: object = {}): Promise<void> => {
    await call('POST /api/v1/workflows', { definition, ...more });
  };
  const start = async (call: Call, workflowId: string, input: unknown, wait = ''): Promise<string> =>
    String((await call(`POST /api/v1/executions${wait}`, { workflowId, input }))['executionId']);
  const step = { a: { action: 'core.noop' } };
  const places: Readonly<Record<string, (id: string) => Promise<void>>> = {
    'the input of a start': async (id) => {
      await register(far, { id, input: FORM, nodes: step });
      await start(far, id, { l: texts() });
    },
    'the input of a start, with defaults': async (id) => {
      const input = { type: 'object', properties: { ...FORM.properties, n: { default: 1 } } };
      await register(far, { id, input, nodes: step });
      await start(far, id, { l: texts() });
    },
    'a webhook': async (id) => {
      await register(far, { id, input: FORM, triggers: [{ webhook: { path: `/${id}` } }], nodes: step });
      await far(`POST /api/v1/workflows/${id}/activate`, {});
      await far(`POST /hooks/${id}`, { l: texts() });
    },
    'a signal': async (id) => {
      await register(far, { id, nodes: { go: { wait: { signal: id, schema: FORM } } } });
      const executionId = await start(far, id, {});
      await far(`POST /api/v1/executions/${executionId}/signal`, { signal: id, payload: { l: texts() } });
    },
    'a signal that is buffered': async (id) => {
      await register(far, {
        id,
        nodes: { go: { wait: { signal: 'first' } }, on: { needs: ['go'], wait: { signal: id, schema: FEWER_STEPS } } },
      });
      const executionId = await start(far, id, {});
      await far(`POST /api/v1/executions/${executionId}/signal`, { signal: id, payload: texts() });
      await far(`POST /api/v1/executions/${executionId}/signal`, { signal: 'first', payload: null });
    },
    'the form of an approval': async (id) => {
      await register(far, { id, nodes: { ask: { wait: { approval: { form: FORM } } } } });
      const executionId = await start(far, id, {}, '?wait=1s');
      await far(`POST /api/v1/executions/${executionId}/answer`, { node: 'ask', approved: true, form: { l: texts() } });
    },
    'the outcome of a remote worker': async (id) => {
      const action = { id: FAR, effect: 'pure', input: FORM, output: TEXTS };
      await far('POST /api/v1/workers', { workerId: id, labels: [id], actions: [action] });
      await register(far, { id, nodes: { a: { action: FAR, labels: [id], with: { l: '{{ $input.l }}' } } } });
      await start(far, id, { l: texts() });
      const { work } = (await far(`POST /api/v1/workers/${id}/claim`, { wait: '10s' })) as {
        work: { leaseId: string }[];
      };
      await far(`POST /api/v1/leases/${work[0]?.leaseId}/complete`, { output: texts() });
    },
    'the input and the output of a local action': async (id) => {
      await register(far, { id, nodes: { a: { action: 'test.checked', with: { l: '{{ $input.l }}' } } } });
      await start(far, id, { l: texts() }, '?wait=20s');
    },
    'the inputs of a launch plan': async (id) => {
      await register(far, { id, input: FORM, nodes: step });
      await far(`PUT /api/v1/plans/${id}`, { workflowId: id, inputs: { l: texts() } });
    },
    'the input of an inlined workflow': async (id) => {
      const input = { type: 'object', properties: { l: FEWER_STEPS } };
      await register(far, { id: `${id}-inner`, input, nodes: step });
      await register(far, { id, nodes: { a: { workflow: { id: `${id}-inner`, input: { l: '{{ $input.l }}' } } } } });
      await start(far, id, { l: texts() }, '?wait=20s');
    },
    'the output of a returned graph': async (id) => {
      const nodes = { plan: { dynamic: { action: 'test.graph', with: { graph: '{{ $input.graph }}' } } } };
      await register(wide, { id, nodes }, { project: 'wide' });
      await start(wide, id, { graph: { nodes: step, output: texts() } }, '?wait=20s');
    },
  };
  return Object.entries(places).map(([name, act], at) => ({
    name: `checked: ${name}, ${COUNT.toLocaleString('en')} items`,
    act: () => act(`checked-${key}-${at}`),
  }));
}

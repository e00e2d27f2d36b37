/** The output of the node in the last run, which can be pinned for tests. */
import type { Json } from '@nebula/core';
import type { ReactElement } from 'react';
import type { RunValues } from '../../language/run-values.ts';
import { useText } from '../../text/use-text.ts';
import { Badge, Button } from '../../ui/controls.tsx';
import { Status } from '../../ui/status.tsx';
import { editorText } from './editor-text.ts';
import type { Pins } from './use-pins.ts';

/** Characters that are shown: the page of the run has the rest. */
const MAX_SHOWN = 1_500;

interface LastOutputProps {
  readonly node: string;
  readonly run: RunValues | undefined;
  readonly pins: Pins;
  readonly text: string;
}

export function LastOutput({ node, run, pins, text }: LastOutputProps): ReactElement | null {
  const { inspector: words } = useText(editorText);
  const values = run?.nodes[node];
  const pinned = pins.all[node];
  if (values === undefined && pinned === undefined) return null;
  const output: Json = pinned?.output ?? values?.output ?? null;
  const shown = JSON.stringify(output, null, 2);
  const isStale = pins.stateOf(node, text) === 'stale';
  return (
    <section className="node-form-section last-output">
      <header>
        <h3 className="spring">{words.output}</h3>
        {values !== undefined && <Status status={values.status} />}
        {pinned !== undefined && <Badge kind={isStale ? 'warning' : 'accent'}>{words.pinned}</Badge>}
        <Button
          kind="quiet"
          icon="pin"
          title={words.pinHint}
          aria-pressed={pinned !== undefined}
          onClick={() => pins.set(node, pinned === undefined ? output : undefined, text)}
        >
          {pinned === undefined ? words.pin : words.unpin}
        </Button>
      </header>
      {isStale && <p className="field-problem">{words.stale}</p>}
      <pre>{shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown}</pre>
    </section>
  );
}

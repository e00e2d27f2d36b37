/** A page that throws is replaced by what went wrong; the rest of the Studio stays usable. */
import { Component, type ReactElement, type ReactNode } from 'react';
import { useText } from '../text/use-text.ts';
import { Button } from '../ui/controls.tsx';
import { Empty } from '../ui/page.tsx';
import { shellText } from './shell-text.ts';

interface State {
  readonly error: Error | undefined;
}

export class ErrorBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: undefined };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    return this.state.error === undefined ? this.props.children : <Broken error={this.state.error} />;
  }
}

function Broken({ error }: { readonly error: Error }): ReactElement {
  const words = useText(shellText);
  return (
    <Empty title={words.broken} actions={<Button onClick={() => location.reload()}>{words.reload}</Button>}>
      <p className="mono">{error.message}</p>
    </Empty>
  );
}

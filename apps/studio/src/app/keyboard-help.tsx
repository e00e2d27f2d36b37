import type { ReactElement } from 'react';
import { useText } from '../text/use-text.ts';
import { Key } from '../ui/controls.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { shellText } from './shell-text.ts';
import './keyboard-help.css';

export function KeyboardHelp({ onClose }: { onClose(): void }): ReactElement {
  const words = useText(shellText);
  const { keys } = words;
  const rows: readonly (readonly [readonly string[], string])[] = [
    [['Ctrl K'], keys.palette],
    [['/'], keys.search],
    [['?'], keys.help],
    [['g', 'r'], keys.goRuns],
    [['g', 'w'], keys.goWorkflows],
    [['g', 'i'], keys.goInbox],
    [['g', 's'], keys.goSchedules],
    [['g', 'o'], keys.goOverview],
    [['f'], keys.fit],
    [['←', '→', '↑', '↓'], keys.arrows],
    [['Enter'], keys.open],
    [['y'], keys.why],
    [['[', ']'], keys.past],
    [['l'], keys.live],
  ];
  return (
    <Dialog title={words.keyboard} onClose={onClose}>
      <dl className="keys">
        {rows.map(([pressed, meaning]) => (
          <div key={meaning}>
            <dt>
              {pressed.map((key) => (
                <Key key={key}>{key}</Key>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

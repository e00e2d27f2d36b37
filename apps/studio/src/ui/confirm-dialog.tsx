/** A question before something that cannot be undone. */
import type { ReactElement, ReactNode } from 'react';
import { defineText } from '../text/define-text.ts';
import { useText } from '../text/use-text.ts';
import { Button } from './controls.tsx';
import { Dialog } from './dialog.tsx';
import type { IconName } from './icons.tsx';

const text = defineText({ en: { notNow: 'Not now' }, de: { notNow: 'Jetzt nicht' } });

interface ConfirmDialogProps {
  readonly title: string;
  /** The words of the button. */
  readonly confirm: string;
  readonly icon?: IconName;
  readonly isBusy: boolean;
  readonly children: ReactNode;
  onConfirm(): void;
  onClose(): void;
}

export function ConfirmDialog({
  title,
  confirm,
  icon = 'trash',
  isBusy,
  children,
  onConfirm,
  onClose,
}: ConfirmDialogProps): ReactElement {
  const words = useText(text);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={onConfirm}
      actions={
        <>
          <Button onClick={onClose}>{words.notNow}</Button>
          <Button kind="danger" icon={icon} type="submit" isBusy={isBusy}>
            {confirm}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}

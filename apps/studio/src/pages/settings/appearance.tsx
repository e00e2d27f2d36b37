import type { ReactElement } from 'react';
import { THEMES } from '../../app/preferences.ts';
import { shellText } from '../../app/shell-text.ts';
import { useStudio } from '../../app/studio-context.ts';
import { isLanguage, LANGUAGES } from '../../text/define-text.ts';
import { useText } from '../../text/use-text.ts';
import { Button, Field, Select } from '../../ui/controls.tsx';
import { notify } from '../../ui/notices.ts';
import { settingsText } from './settings-text.ts';

export function Appearance(): ReactElement {
  const words = useText(settingsText);
  const { themes } = useText(shellText);
  const { preferences, prefer } = useStudio();
  return (
    <div className="settings-form">
      <fieldset className="theme-choices">
        <legend>{words.theme}</legend>
        {THEMES.map((theme) => (
          <label key={theme}>
            <input type="radio" name="theme" checked={preferences.theme === theme} onChange={() => prefer({ theme })} />
            <span className={`theme-sample theme-${theme}`} aria-hidden="true">
              <span />
              <span />
              <span />
            </span>
            {themes[theme]}
          </label>
        ))}
      </fieldset>
      <Field label={words.language}>
        {(ids) => (
          <Select
            {...ids}
            value={preferences.language}
            onChange={({ target }) => isLanguage(target.value) && prefer({ language: target.value })}
          >
            {Object.entries(LANGUAGES).map(([language, name]) => (
              <option key={language} value={language}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <section>
        <h3>{words.tour}</h3>
        <p className="muted">{words.tourWhat}</p>
        <Button
          disabled={!preferences.hasSeenTour}
          onClick={() => {
            prefer({ hasSeenTour: false });
            notify({ kind: 'done', message: words.tourShown });
          }}
        >
          {words.showTour}
        </Button>
      </section>
    </div>
  );
}

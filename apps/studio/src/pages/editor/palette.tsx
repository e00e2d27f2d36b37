/** Everything that can be added, with search. Enter inserts after the selected node; an entry can be dragged to a place. */
import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import { findTemplates, type NodeTemplate } from '../../editor/node-templates.ts';
import { useText } from '../../text/use-text.ts';
import { IconButton, SearchInput } from '../../ui/controls.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { editorText } from './editor-text.ts';

/** The type of dragged entries. */
export const TEMPLATE_TYPE = 'application/x-nebula-node';

const GROUPS = ['actions', 'flow', 'loops', 'waits'] as const;

const ICONS: Readonly<Record<NodeTemplate['group'], IconName>> = {
  actions: 'bolt',
  flow: 'fork',
  loops: 'retry',
  waits: 'clock',
};

interface PaletteProps {
  readonly templates: readonly NodeTemplate[];
  onChoose(template: NodeTemplate): void;
  onClose(): void;
}

export function Palette({ templates, onChoose, onClose }: PaletteProps): ReactElement {
  const { palette: words, inspector } = useText(editorText);
  const [search, setSearch] = useState('');
  const [active, setActive] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const found = useMemo(() => {
    const all = findTemplates(templates, search);
    return search.trim() === '' ? GROUPS.flatMap((group) => all.filter((one) => one.group === group)) : all;
  }, [templates, search]);
  const current = found[active];
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  });
  return (
    <section
      className="node-palette"
      aria-label={words.title}
      onKeyDown={(event) => {
        const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
        if (step !== 0) {
          event.preventDefault();
          setActive((active + step + found.length) % Math.max(1, found.length));
        } else if (event.key === 'Enter' && current !== undefined) {
          event.preventDefault();
          onChoose(current);
        } else if (event.key === 'Escape') {
          event.stopPropagation();
          onClose();
        }
      }}
    >
      <header>
        <SearchInput
          label={words.search}
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="node-palette-list"
          aria-activedescendant={current === undefined ? undefined : optionId(current)}
          onText={(text) => {
            setSearch(text);
            setActive(0);
          }}
        />
        <IconButton icon="close" label={inspector.close} onClick={onClose} />
      </header>
      <div id="node-palette-list" role="listbox" aria-label={words.title} className="node-palette-list" ref={list}>
        {found.length === 0 && <p className="muted node-palette-none">{words.none}</p>}
        {found.map((template, index) => (
          <div key={template.key} className="node-palette-entry">
            {search.trim() === '' && found[index - 1]?.group !== template.group && (
              <h3 className="node-palette-group" role="presentation">
                {words[template.group]}
              </h3>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the search field has the focus and the keys. */}
            {/* biome-ignore lint/a11y/useFocusableInteractive: as above. */}
            <div
              id={optionId(template)}
              role="option"
              aria-selected={index === active}
              className={`node-palette-option node-palette-${template.group}`}
              draggable
              onDragStart={({ dataTransfer }) => {
                dataTransfer.setData(TEMPLATE_TYPE, template.key);
                dataTransfer.effectAllowed = 'copy';
              }}
              onPointerMove={() => index !== active && setActive(index)}
              onClick={() => onChoose(template)}
            >
              <span className="node-palette-icon" aria-hidden="true">
                <Icon name={ICONS[template.group]} size={14} />
              </span>
              <span className="node-palette-words">
                <strong className="truncate">{template.title}</strong>
                <span className="truncate mono">{template.words}</span>
              </span>
            </div>
          </div>
        ))}
      </div>
      <footer>{current === undefined ? words.hint : current.doc === '' ? words.hint : current.doc}</footer>
    </section>
  );
}

function optionId({ key }: NodeTemplate): string {
  return `template-${key.replace(/\W+/g, '-')}`;
}

/** A part of a whole as a bar, with its figures. */
import type { ReactElement } from 'react';
import './meter.css';

interface MeterProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  readonly text: string;
}

export function Meter({ label, value, max, text }: MeterProps): ReactElement {
  const share = max === 0 ? 0 : Math.min(1, value / max);
  return (
    <div className="meter">
      <span className="truncate">{label}</span>
      <span className="meter-text">{text}</span>
      {/* biome-ignore lint/a11y/useSemanticElements: the look of <meter> cannot follow the theme. */}
      <svg
        role="meter"
        aria-label={label}
        aria-valuenow={value}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuetext={text}
        width="100%"
        height="6"
      >
        <rect className="meter-whole" width="100%" height="6" rx="3" />
        {share > 0 && (
          <rect
            className={share > 0.9 ? 'meter-part meter-full' : 'meter-part'}
            width={`${share * 100}%`}
            height="6"
            rx="3"
          />
        )}
      </svg>
    </div>
  );
}

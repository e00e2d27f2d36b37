/** Counts messages by project and channel, for metrics. Projects are made by administrators, so the series are few. */
import type { NotificationFigures } from '../observability/metrics.ts';
import type { NotificationRecord } from './records.ts';
import { channelOf } from './target.ts';

type Counted = 'sent' | 'failed' | 'pending';

export class DeliveryCounts {
  private readonly series = new Map<
    string,
    { -readonly [Member in keyof NotificationFigures]: NotificationFigures[Member] }
  >();

  /** `pending` is counted anew in each pass. */
  beginPass(): void {
    for (const series of this.series.values()) series.pending = 0;
  }

  add(record: Pick<NotificationRecord, 'project' | 'url'>, what: Counted): void {
    const { project } = record;
    const channel = channelOf(record);
    const key = `${project} ${channel}`;
    const series = this.series.get(key) ?? { project, channel, sent: 0, failed: 0, pending: 0 };
    series[what]++;
    this.series.set(key, series);
  }

  figures(): readonly NotificationFigures[] {
    return [...this.series.values()];
  }
}

/** Reads the text format of Prometheus, strictly: what it would refuse, this refuses. */

export interface ReadFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)/;
const SUFFIXES: Readonly<Record<string, RegExp>> = { histogram: /^(_bucket|_sum|_count)$/, counter: /^$/, gauge: /^$/ };

export function readExposition(text: string): Map<string, ReadFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, ReadFamily>();
  let current: [string, ReadFamily] | undefined;
  const lines = text.slice(0, -1).split('\n');
  for (const [index, line] of lines.entries()) {
    const help = /^# HELP (\S+) (.*)$/.exec(line);
    if (help !== null) {
      const [, name = '', words = ''] = help;
      const type = new RegExp(`^# TYPE ${name} (counter|gauge|histogram)$`).exec(lines[index + 1] ?? '')?.[1];
      if (type === undefined) throw new Error(`${name} has no type`);
      if (families.has(name)) throw new Error(`${name} is there twice`);
      if (type === 'counter' && !name.endsWith('_total')) throw new Error(`the counter ${name} does not end in _total`);
      current = [name, { type, help: words, samples: [] }];
      families.set(...current);
    } else if (!line.startsWith('# TYPE ')) readSample(line, current);
  }
  for (const [name, family] of families) if (family.type === 'histogram') checkHistogram(name, family);
  return families;
}

function readSample(line: string, current: [string, ReadFamily] | undefined): void {
  const [, name = '', inner = '', number = ''] = SAMPLE.exec(line) ?? [];
  if (current === undefined || !name.startsWith(current[0])) throw new Error(`'${line}' belongs to nothing`);
  const [family, { type, samples }] = current;
  if (!SUFFIXES[type]?.test(name.slice(family.length)))
    throw new Error(`${name} is no sample of the ${type} ${family}`);
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (number === '' || Number.isNaN(value)) throw new Error(`'${line}' has no value`);
  const labels = labelsIn(inner);
  if (samples.some((one) => one.name === name && JSON.stringify(one.labels) === JSON.stringify(labels)))
    throw new Error(`'${line}' is there twice`);
  samples.push({ name, labels, value });
}

function labelsIn(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let rest = text; rest !== ''; ) {
    const [whole, name, value] = LABEL.exec(rest) ?? [];
    if (whole === undefined || name === undefined || value === undefined) throw new Error(`labels: ${text}`);
    labels[name] = value.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
    rest = rest.slice(whole.length);
  }
  return labels;
}

/** Buckets grow, the last one is +Inf and equals the count. */
function checkHistogram(name: string, { samples }: ReadFamily): void {
  const series = new Map<string, typeof samples>();
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels;
    const key = JSON.stringify(labels);
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const [key, own] of series) {
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) =>
      labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']),
    );
    const counts = buckets.map(({ value }) => value);
    const isGrowing = (numbers: readonly number[], by: (a: number, b: number) => boolean): boolean =>
      numbers.every((one, at) => at === 0 || by(numbers[at - 1] as number, one));
    if (!isGrowing(bounds, (a, b) => a < b) || bounds.at(-1) !== Number.POSITIVE_INFINITY)
      throw new Error(`${name}${key}: bounds`);
    if (!isGrowing(counts, (a, b) => a <= b)) throw new Error(`${name}${key}: buckets are not cumulative`);
    if (counts.at(-1) !== own.find((sample) => sample.name === `${name}_count`)?.value)
      throw new Error(`${name}${key}: count`);
    if (!own.some((sample) => sample.name === `${name}_sum`)) throw new Error(`${name}${key}: no sum`);
  }
}

// Reads Prometheus' text format, as far as the board needs it. Pure.

/** Every sample as {name, labels, value}. Lines that are none are left out. */
export function parseMetrics(text) {
  const samples = [];
  for (const line of text.split("\n")) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (match === null) continue;
    const labels = {};
    for (const [, label, value] of (match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      labels[label] = value;
    }
    samples.push({ name: match[1], labels, value: Number(match[3].replace("Inf", "Infinity")) });
  }
  return samples;
}

/** The buckets of a histogram, all label sets together: [[bound, count], ...], by bound. */
export function bucketsOf(samples, name) {
  const counts = new Map();
  for (const sample of samples) {
    if (sample.name !== `${name}_bucket`) continue;
    const bound = Number(sample.labels.le.replace("Inf", "Infinity"));
    counts.set(bound, (counts.get(bound) ?? 0) + sample.value);
  }
  return [...counts].sort(([a], [b]) => a - b);
}

/**
 * An estimate of a quantile of what came between two looks at a histogram; NaN if nothing came. It
 * is interpolated in its bucket; beyond the last bound, that bound.
 */
export function quantile(share, before, after) {
  const old = new Map(before);
  const counts = after.map(([bound, count]) => [bound, count - (old.get(bound) ?? 0)]);
  const total = counts.at(-1)?.[1] ?? 0;
  if (!(total > 0)) return NaN;
  let low = 0;
  let below = 0;
  for (const [bound, count] of counts) {
    if (count >= share * total) {
      if (!Number.isFinite(bound)) return low;
      return low + ((share * total - below) / (count - below)) * (bound - low);
    }
    low = bound;
    below = count;
  }
  return low;
}

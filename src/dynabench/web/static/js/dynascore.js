/**
 * The Dynascore as `dynabench.stats.dynascore` computes it, for boards that are weighed anew in the page; a test holds
 * the two against each other. `values` are rows of numbers by metric, finite where the metric is weighed or primary.
 */
const THRESHOLD = 1e-4;
const NOISE = 1e-12;
const FLOOR = 0.01;

/**
 * Each model's metrics over the weighted datasets: rows (M, D, K) and steps (D) to rows (M, K); NaN where one lacks. In
 * a metric only datasets count on which some row has it, as in `dynabench.stats.averages.shares`.
 */
export function averaged(rows, steps) {
  const used = steps.flatMap((step, at) => (step ? [at] : []));
  const parts = (rows[0]?.[0] ?? []).map((_, metric) => {
    const held = used.filter((at) => rows.some((row) => Number.isFinite(row[at][metric] ?? NaN)));
    const total = held.reduce((sum, at) => sum + steps[at], 0);
    return held.map((at) => [at, steps[at] / total]);
  });
  return rows.map((row) => parts.map((part, metric) => {
    let sum = part.length ? 0 : NaN;
    for (const [at, share] of part) sum += share * (row[at][metric] ?? NaN);
    return sum;
  }));
}

function substitution(rows, at) {
  const largest = (place) => rows.reduce((most, row) => Math.max(most, Math.abs(row[place])), 0);
  const least = THRESHOLD * largest(0);
  const noise = NOISE * largest(at);
  let sum = 0;
  let count = 0;
  for (let place = 1; place < rows.length; place += 1) {
    const apart = rows[place][0] - rows[place - 1][0];
    const step = Math.abs(rows[place][at] - rows[place - 1][at]);
    if (apart > least) {
      sum += step > noise ? step / apart : 0;
      count += 1;
    }
  }
  return count ? sum / count : 0;
}

function span(column) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of column) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return column.length ? Math.max(high - low, FLOOR * Math.max(Math.abs(low), Math.abs(high))) : 0;
}

/** Rows in the order of their first number, then of the others. */
function ascending(one, other) {
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return one[at] - other[at];
  return 0;
}

/**
 * The score of each row. `metrics` are {name, direction, offset, ends}, `ends` being the worst and the best value that are
 * declared, or null: the guarded form then takes those of the rows. `steps` their weights in the same order, `primary` the
 * place of the primary one, `form` is "exact" or "guarded".
 */
export function dynascore(values, metrics, steps, primary, form) {
  const total = steps.reduce((sum, step) => sum + step, 0);
  const used = metrics.map((_, at) => at).filter((at) => steps[at] > 0);
  const others = metrics.map((_, at) => at).filter((at) => at !== primary && steps[at] > 0)
    .sort((a, b) => (metrics[a].name < metrics[b].name ? -1 : 1));
  const order = [primary, ...others];
  const ends = metrics.map((metric) => (form === "guarded" && metric.ends) || null);
  values = values.map((row) => row.map((value, at) => (
    ends[at] ? Math.min(Math.max(value, Math.min(...ends[at])), Math.max(...ends[at])) : value)));
  const rows = values.map((row) => order.map((at) => row[at])).sort(ascending);
  const factors = new Map();
  const zeros = new Map();
  for (const at of used) {
    const { direction, offset } = metrics[at];
    const share = (steps[at] / total) * direction;
    if (form === "guarded") {
      const column = values.map((row) => row[at]);
      const width = ends[at] ? Math.abs(ends[at][1] - ends[at][0]) : span(column);
      factors.set(at, width ? (100 * share) / width : 0);
      zeros.set(at, ends[at] ? ends[at][0] : direction * column.reduce((least, value) => Math.min(least, direction * value), Infinity));
    } else {
      const rate = at === primary ? 1 : substitution(rows, order.indexOf(at));
      factors.set(at, rate ? share / rate : 0);
      zeros.set(at, -direction * offset);
    }
  }
  return values.map((row) => used.reduce((sum, at) => sum + factors.get(at) * (row[at] - zeros.get(at)), 0));
}

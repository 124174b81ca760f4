// The board: devices, queues and latencies, looked at every second.

import { cancelRequest, readMetrics, readStatus } from "./api.js";
import { bytes, duration, percent } from "./format.js";
import { bucketsOf, parseMetrics, quantile } from "./metrics.js";
import { Plot } from "./plot.js";

const LOOK_MS = 1000;

// Histograms of the daemon, in seconds, whose medians are shown; those that it does not have are not.
const LATENCIES = [
  ["superfluidd_first_segment_seconds", "First segment"],
  ["superfluidd_queue_seconds", "Queue"],
  ["superfluidd_cancel_seconds", "Cancel"],
];

const STATE_CLASS = { ready: "good", starting: "warn", stalled: "bad", waiting: "warn", ended: "bad" };

function cell(text, className = "") {
  const td = document.createElement("td");
  td.textContent = text;
  td.className = className;
  return td;
}

function rowHeader(text) {
  const th = document.createElement("th");
  th.scope = "row";
  th.textContent = text;
  return th;
}

function row(...cells) {
  const tr = document.createElement("tr");
  tr.append(...cells);
  return tr;
}

function emptyRow(columns, text) {
  const td = cell(text, "none");
  td.colSpan = columns;
  return row(td);
}

/** What two looks at a worker say about the time between them. */
function ratesOf(worker, before, seconds) {
  // Another process has counters of its own.
  if (before === undefined || before.pid !== worker.pid || !(seconds > 0)) {
    return { busy: NaN, steps: NaN };
  }
  return {
    busy: Math.min(1, (worker.engine_busy_us - before.engine_busy_us) / 1e6 / seconds),
    steps: (worker.engine_steps - before.engine_steps) / seconds,
  };
}

export class Board {
  #page;
  #plots = new Map();
  #timer = null;
  #last = null; // {at, workers by name}
  #buckets = new Map();
  #hasMetrics = true; // until the daemon says that it has none
  #paused = false;
  #onHealth;

  /** `page`: its elements by name. `onHealth`: hears of each look. */
  constructor(page, onHealth) {
    this.#page = page;
    this.#onHealth = onHealth;
    this.#plot("queued", "Waiting", (value) => String(Math.round(value)), { ceiling: 4 });
    this.#plot("active", "Running", (value) => String(Math.round(value)), { ceiling: 4 });
    this.#plot("busy", "Engines busy", percent, { ceiling: 1 });
    page.pause.addEventListener("click", () => this.#togglePause());
    document.addEventListener("visibilitychange", () => this.#schedule(0));
  }

  start() {
    this.#schedule(0);
  }

  #togglePause() {
    this.#paused = !this.#paused;
    this.#page.pause.setAttribute("aria-pressed", String(this.#paused));
    this.#page.pause.textContent = this.#paused ? "Go on" : "Pause";
    this.#page.boardState.textContent = this.#paused ? "paused" : "";
    this.#schedule(0);
  }

  #plot(key, title, format, options) {
    if (!this.#plots.has(key)) {
      const plot = new Plot(title, format, options);
      this.#plots.set(key, plot);
      this.#page.plots.append(plot.element);
    }
    return this.#plots.get(key);
  }

  #schedule(ms) {
    clearTimeout(this.#timer);
    if (this.#paused || document.hidden) return;
    this.#timer = setTimeout(() => this.#look(), ms);
  }

  async #look() {
    try {
      const signal = AbortSignal.timeout(5000);
      const status = await readStatus(signal);
      this.#show(status);
      if (this.#hasMetrics) await this.#lookAtMetrics(signal);
      this.#onHealth(status, null);
    } catch (error) {
      this.#onHealth(null, error);
    }
    this.#schedule(LOOK_MS);
  }

  async #lookAtMetrics(signal) {
    const metrics = await readMetrics(signal);
    this.#hasMetrics = metrics !== null;
    if (this.#hasMetrics) this.#showLatencies(parseMetrics(metrics));
  }

  #show(status) {
    const at = performance.now();
    const seconds = this.#last === null ? NaN : (at - this.#last.at) / 1000;
    const rates = new Map();
    for (const worker of status.workers) {
      rates.set(worker.name, ratesOf(worker, this.#last?.workers.get(worker.name), seconds));
    }
    this.#last = { at, workers: new Map(status.workers.map((worker) => [worker.name, worker])) };
    this.#plots.get("queued").add(status.queued);
    this.#plots.get("active").add(status.active);
    const busy = [...rates.values()].map((rate) => rate.busy).filter(Number.isFinite);
    this.#plots.get("busy").add(busy.reduce((sum, share) => sum + share, 0) / busy.length);
    this.#showWorkers(status.workers, rates);
    this.#showRequests(status.requests);
  }

  #showWorkers(workers, rates) {
    const rows = workers.map((worker) => {
      const state = cell(worker.state, STATE_CLASS[worker.state] ?? "");
      if (worker.last_end !== "") state.title = `last end: ${worker.last_end}`;
      const { busy, steps } = rates.get(worker.name);
      return row(
        rowHeader(worker.name),
        state,
        cell(worker.engine === "" ? worker.model : `${worker.model} (${worker.engine})`),
        cell(`${worker.active} of ${worker.places}`, "number"),
        cell(percent(busy), "number"),
        cell(Number.isFinite(steps) ? steps.toFixed(steps < 10 ? 1 : 0) : "–", "number"),
        cell(bytes(worker.allocated_bytes), "number"),
        cell(String(worker.restarts), "number"),
      );
    });
    this.#page.workers.replaceChildren(...(rows.length > 0 ? rows : [emptyRow(8, "no workers")]));
  }

  // Rows are kept, so that a button does not lose the focus at each look.
  #showRequests(requests) {
    const body = this.#page.requests;
    const rows = new Map([...body.rows].map((tr) => [tr.dataset.id, tr]));
    const wanted = requests.map((request) => {
      const tr = rows.get(request.id) ?? this.#requestRow(request);
      const [, state, , audio, age] = tr.cells;
      state.textContent =
        request.state === "queued" ? "waits" : `runs on ${request.worker}`;
      audio.textContent = request.live ? "live" : duration(request.estimated_seconds * 1000);
      age.textContent = duration(request.age_ms);
      return tr;
    });
    if (wanted.length === 0) wanted.push(rows.get(undefined) ?? emptyRow(6, "none"));
    for (const tr of rows.values()) if (!wanted.includes(tr)) tr.remove();
    wanted.forEach((tr, i) => {
      if (body.rows[i] !== tr) body.insertBefore(tr, body.rows[i] ?? null);
    });
  }

  #requestRow(request) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small danger";
    button.textContent = "Cancel";
    button.setAttribute("aria-label", `Cancel request ${request.id}`);
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        await cancelRequest(request.id);
      } catch (error) {
        this.#page.boardState.textContent = error.message;
        button.disabled = false;
      }
    });
    const action = cell("");
    action.append(button);
    const tr = row(
      rowHeader(request.id),
      cell(""),
      cell(request.model),
      cell("", "number"),
      cell("", "number"),
      action,
    );
    tr.dataset.id = request.id;
    return tr;
  }

  #showLatencies(samples) {
    for (const [name, title] of LATENCIES) {
      const buckets = bucketsOf(samples, name);
      if (buckets.length === 0) continue;
      const median = quantile(0.5, this.#buckets.get(name) ?? buckets, buckets);
      this.#buckets.set(name, buckets);
      this.#plot(name, `${title} p50`, (ms) => duration(ms), { ceiling: 10 }).add(median * 1000);
    }
  }
}

// Wires the page: finds its elements, fills in what the daemon offers, keeps the board going.

import { ApiFailure, listModels, readReadiness, setKey } from "./api.js";
import { Board } from "./board.js";
import { Transcriber } from "./transcriber.js";

const NAMES = [
  "health", "key", "theme", "drop", "choose", "record", "file", "clip", "model", "language", "start",
  "cancel", "state", "segments", "cost", "plots", "pause", "workers", "requests",
];

const page = Object.fromEntries(NAMES.map((name) => [name, document.getElementById(name)]));
page.boardState = document.getElementById("board-state");

function showHealth(text, state) {
  if (page.health.textContent !== text) page.health.textContent = text;
  page.health.dataset.state = state;
}

async function onLook(status, error) {
  if (status !== null) {
    const ready = status.workers.filter((worker) => worker.state === "ready").length;
    if (status.draining) showHealth("draining", "warn");
    else if (ready === 0) showHealth("no worker is ready", "bad");
    else showHealth(`${ready} of ${status.workers.length} workers ready`, "ready");
    if (page.model.options.length === 0) await fillModels();
    return;
  }
  if (error instanceof ApiFailure && error.status === 401) {
    showHealth("an API key is needed", "warn");
    return;
  }
  const ready = await readReadiness(AbortSignal.timeout(2000)).catch(() => null);
  showHealth(ready === null ? "the daemon does not answer" : ready.status, "bad");
}

async function fillModels() {
  try {
    const models = await listModels();
    page.model.replaceChildren(...models.map((name) => new Option(name, name)));
  } catch {
    // Tried again at the next look.
  }
}

page.theme.addEventListener("change", () => {
  if (page.theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = page.theme.value;
});
page.key.addEventListener("change", () => {
  setKey(page.key.value);
  fillModels();
});

new Transcriber(page);
new Board(page, onLook).start();
fillModels();

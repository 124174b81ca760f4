// The daemon's HTTP API, as the console uses it. Nothing here knows of the page.

/** The API key of this visit; kept in memory only. */
let key = "";

export function setKey(value) {
  key = value.trim();
}

function headers() {
  return key === "" ? {} : { Authorization: `Bearer ${key}` };
}

/** An answer that is no success. */
export class ApiFailure extends Error {
  constructor(status, message, details = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

async function failureOf(response) {
  let message = `the daemon answered ${response.status}`;
  let details = {};
  try {
    details = (await response.json()).error ?? {};
    message = details.message ?? message;
  } catch {
    // No JSON: a proxy's page, perhaps.
  }
  return new ApiFailure(response.status, message, details);
}

async function getJson(path, signal) {
  const response = await fetch(path, { headers: headers(), signal, cache: "no-store" });
  if (!response.ok) throw await failureOf(response);
  return response.json();
}

export async function listModels() {
  return (await getJson("/v1/models")).data.map((model) => model.id);
}

export function readStatus(signal) {
  return getJson("/v1/status", signal);
}

export function readReadiness(signal) {
  return fetch("/ready", { signal, cache: "no-store" }).then((response) => response.json());
}

/** Prometheus' text; null where the daemon has none. */
export async function readMetrics(signal) {
  const response = await fetch("/metrics", { headers: headers(), signal, cache: "no-store" });
  return response.ok ? response.text() : null;
}

export async function cancelRequest(id) {
  const response = await fetch(`/v1/requests/${encodeURIComponent(id)}`, {
    method: "DELETE",
    headers: headers(),
  });
  if (!response.ok && response.status !== 404) throw await failureOf(response);
}

/** The data of each event of a stream of server-sent events. */
export async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (true) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value.replaceAll("\r\n", "\n");
    let end = rest.indexOf("\n\n");
    while (end >= 0) {
      const lines = rest.slice(0, end).split("\n").filter((line) => line.startsWith("data:"));
      rest = rest.slice(end + 2);
      if (lines.length > 0) yield lines.map((line) => line.slice(5).trimStart()).join("\n");
      end = rest.indexOf("\n\n");
    }
  }
}

/**
 * Sends a recording, and gives its events as they come: {type: "accepted", id} first, then the
 * API's. Throws ApiFailure for a refusal and for an error in the stream.
 */
export async function* transcribe(clip, { model, language }, signal) {
  const form = new FormData();
  form.append("model", model);
  form.append("stream", "true");
  if (language !== "") form.append("language", language);
  form.append("file", clip, clip.name ?? "clip.wav");
  const response = await fetch("/v1/audio/transcriptions", {
    method: "POST",
    headers: headers(),
    body: form,
    signal,
  });
  if (!response.ok) throw await failureOf(response);
  yield { type: "accepted", id: response.headers.get("x-request-id") ?? "" };
  for await (const data of eventsOf(response.body)) {
    if (data === "[DONE]") return;
    const event = JSON.parse(data);
    if (event.error !== undefined) {
      throw new ApiFailure(0, event.error.message ?? "the stream failed", event.error);
    }
    yield event;
  }
}

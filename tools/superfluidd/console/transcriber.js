// The panel for one recording: choose, drop or record it, watch its segments, cancel it.

import { ApiFailure, cancelRequest, transcribe } from "./api.js";
import { bytes, clock, duration } from "./format.js";
import { Recording } from "./recorder.js";

export class Transcriber {
  #page;
  #clip = null;
  #recording = null;
  #abort = null; // of the request under way
  #requestId = "";
  #cancelledAt = null;
  #line = null; // the list's last item
  #lineSegment = undefined;

  /** `page`: its elements by name. */
  constructor(page) {
    this.#page = page;
    page.choose.addEventListener("click", () => page.file.click());
    page.file.addEventListener("change", () => this.#take(page.file.files[0]));
    page.record.addEventListener("click", () => this.#toggleRecording());
    page.start.addEventListener("click", () => this.#run());
    page.cancel.addEventListener("click", () => this.#cancel());
    this.#acceptDrops(page.drop);
  }

  #acceptDrops(zone) {
    const over = (on) => (event) => {
      event.preventDefault();
      zone.classList.toggle("over", on);
    };
    zone.addEventListener("dragenter", over(true));
    zone.addEventListener("dragover", over(true));
    zone.addEventListener("dragleave", over(false));
    zone.addEventListener("drop", (event) => {
      over(false)(event);
      this.#take(event.dataTransfer.files[0]);
    });
    // Beside the zone a file would replace the page.
    for (const kind of ["dragover", "drop"]) {
      window.addEventListener(kind, (event) => event.preventDefault());
    }
  }

  #take(file) {
    if (file === undefined || file === null) return;
    this.#clip = file;
    this.#page.clip.textContent = `${file.name}, ${bytes(file.size)}`;
    this.#update();
  }

  async #toggleRecording() {
    const { record } = this.#page;
    try {
      if (this.#recording === null) {
        const recording = new Recording();
        await recording.start();
        this.#recording = recording;
        this.#say("recording; press Stop when you are done");
      } else {
        const recording = this.#recording;
        this.#recording = null;
        this.#take(await recording.stop());
        this.#say("recorded");
      }
    } catch (error) {
      this.#recording = null;
      this.#say(`cannot record: ${error.message}`, "error");
    }
    record.setAttribute("aria-pressed", String(this.#recording !== null));
    record.textContent = this.#recording === null ? "Record" : "Stop";
  }

  #say(text, kind = "") {
    this.#page.state.textContent = text;
    this.#page.state.dataset.kind = kind;
  }

  #update() {
    const running = this.#abort !== null;
    this.#page.start.disabled = running || this.#clip === null;
    this.#page.cancel.disabled = !running || this.#cancelledAt !== null;
  }

  async #run() {
    const run = { startedAt: performance.now(), firstAt: null, deltas: 0, text: "" };
    this.#abort = new AbortController();
    this.#requestId = "";
    this.#cancelledAt = null;
    this.#line = null;
    this.#lineSegment = undefined;
    this.#page.segments.replaceChildren();
    this.#page.cost.replaceChildren();
    this.#say("sending");
    this.#update();
    this.#page.cancel.focus();
    let failure = null;
    try {
      const options = { model: this.#page.model.value, language: this.#page.language.value.trim() };
      for await (const event of transcribe(this.#clip, options, this.#abort.signal)) {
        this.#on(event, run);
      }
    } catch (error) {
      failure = error;
    }
    this.#end(run, failure);
  }

  #on(event, run) {
    if (event.type === "accepted") {
      this.#requestId = event.id;
      this.#say(`request ${event.id} runs`);
    } else if (event.type === "transcript.text.delta") {
      run.firstAt ??= performance.now();
      ++run.deltas;
      run.text += event.delta;
      this.#append(event, performance.now() - run.startedAt);
    } else if (event.type === "transcript.text.done") {
      run.text = event.text;
    }
  }

  // A line for each segment, with its place in the audio if the daemon says it, else with the time
  // at which it came.
  #append(event, afterMs) {
    const { segments } = this.#page;
    const follow = segments.scrollHeight - segments.scrollTop - segments.clientHeight < 40;
    if (this.#line === null || event.segment_id === undefined || event.segment_id !== this.#lineSegment) {
      const item = document.createElement("li");
      const time = document.createElement("time");
      time.textContent = event.start === undefined ? `+${duration(afterMs)}` : clock(event.start);
      this.#line = document.createElement("span");
      item.append(time, this.#line);
      segments.append(item);
      this.#lineSegment = event.segment_id;
    }
    this.#line.textContent += event.delta;
    if (follow) segments.scrollTop = segments.scrollHeight;
  }

  // The daemon ends the stream with an account of the cancel. If it cannot be asked any more, hanging
  // up cancels as well.
  async #cancel() {
    this.#cancelledAt = performance.now();
    this.#say("cancelling");
    this.#update();
    try {
      if (this.#requestId === "") throw new Error("no request yet");
      await cancelRequest(this.#requestId);
    } catch {
      this.#abort?.abort();
    }
  }

  #end(run, failure) {
    const now = performance.now();
    const cancelled = this.#cancelledAt !== null && failure !== null;
    if (cancelled) this.#say("cancelled", "cancelled");
    else if (failure !== null) this.#say(failure.message, "error");
    else this.#say("done", "done");
    const facts = [
      ["Total", duration(now - run.startedAt)],
      ["First segment", run.firstAt === null ? "–" : duration(run.firstAt - run.startedAt)],
      ["Segments", String(run.deltas)],
      ["Words", String(run.text.split(/\s+/).filter((word) => word !== "").length)],
    ];
    if (cancelled) facts.push(...this.#costOfCancel(failure, now));
    this.#page.cost.replaceChildren(...facts.map(([name, value]) => this.#fact(name, value)));
    this.#abort = null;
    this.#update();
    this.#page.start.focus();
  }

  #costOfCancel(failure, now) {
    const facts = [["Cancel (page)", duration(now - this.#cancelledAt)]];
    const cost = failure instanceof ApiFailure ? failure.details.cost : undefined;
    if (cost === undefined) return facts;
    facts.push(["Cancel (daemon)", duration(cost.cancel_ms)]);
    facts.push(["Steps after it", String(cost.steps_after_cancel)]);
    return facts;
  }

  #fact(name, value) {
    const group = document.createElement("div");
    const term = document.createElement("dt");
    const definition = document.createElement("dd");
    term.textContent = name;
    definition.textContent = value;
    group.append(term, definition);
    return group;
  }
}

// Records from the microphone and makes a WAV file of it, which every worker reads.

const RATE = 16000;

function text(view, at, letters) {
  for (let i = 0; i < letters.length; ++i) view.setUint8(at + i, letters.charCodeAt(i));
}

/** A WAV file of 16-bit mono samples. */
export function wavOf(samples, rate) {
  const view = new DataView(new ArrayBuffer(44 + samples.length * 2));
  text(view, 0, "RIFF");
  view.setUint32(4, 36 + samples.length * 2, true);
  text(view, 8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(view, 36, "data");
  view.setUint32(40, samples.length * 2, true);
  samples.forEach((sample, i) => {
    view.setInt16(44 + i * 2, Math.max(-1, Math.min(1, sample)) * 32767, true);
  });
  return new Blob([view], { type: "audio/wav" });
}

async function monoOf(blob) {
  const context = new OfflineAudioContext(1, 1, RATE);
  const audio = await context.decodeAudioData(await blob.arrayBuffer());
  const offline = new OfflineAudioContext(1, Math.max(1, Math.ceil(audio.duration * RATE)), RATE);
  const source = offline.createBufferSource();
  source.buffer = audio;
  source.connect(offline.destination);
  source.start();
  return (await offline.startRendering()).getChannelData(0);
}

/** One recording: start(), then stop() for the File. */
export class Recording {
  #recorder = null;
  #chunks = [];

  /** Asks for the microphone; rejects if there is none, or it is not allowed. */
  async start() {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    this.#recorder = new MediaRecorder(stream);
    this.#recorder.addEventListener("dataavailable", (event) => this.#chunks.push(event.data));
    this.#recorder.start();
  }

  async stop() {
    const stopped = new Promise((resolve) => {
      this.#recorder.addEventListener("stop", resolve, { once: true });
    });
    this.#recorder.stop();
    for (const track of this.#recorder.stream.getTracks()) track.stop();
    await stopped;
    const samples = await monoOf(new Blob(this.#chunks, { type: this.#recorder.mimeType }));
    return new File([wavOf(samples, RATE)], "recording.wav", { type: "audio/wav" });
  }
}

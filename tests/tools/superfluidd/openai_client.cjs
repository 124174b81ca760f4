// What a program does with the public npm client, unmodified, against a daemon over TLS. The environment
// names the address (BASE_URL) and a folder with recordings; packages are found by NODE_PATH.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');

globalThis.File ??= require('node:buffer').File; // Node 18
const { OpenAI, toFile } = require('openai');
const { OpenAIRealtimeWS } = require('openai/realtime/ws');

const SLOW = 'sim:step_us=50000';
const baseURL = process.env.BASE_URL;
const client = new OpenAI({ apiKey: 'any', baseURL, maxRetries: 0 });

const recording = (name) => fs.createReadStream(path.join(process.env.RECORDINGS, name));
const transcribe = (fields, options) =>
  client.audio.transcriptions.create({ file: recording('short.wav'), model: 'whisper-1', ...fields }, options);

async function status() {
  return await (await fetch(`${baseURL}/status`)).json();
}

async function statusBecomes(wanted) {
  for (let i = 0; i < 3000; ++i) if (wanted(await status())) return;
  assert.fail('the state is never as wanted');
}

test('json', async () => {
  const answer = await transcribe({});
  assert.ok(answer.text.length > 0);
  assert.deepEqual(answer.usage, { type: 'duration', seconds: 3 });
});

test('a file from memory, and an m4a', async () => {
  const bytes = fs.readFileSync(path.join(process.env.RECORDINGS, 'short.wav'));
  const expected = (await transcribe({})).text;
  assert.equal((await transcribe({ file: await toFile(bytes, 'a.wav') })).text, expected);
  assert.equal((await transcribe({ file: recording('short.m4a') })).text, expected);
});

test('text, srt and vtt are strings', async () => {
  const expected = (await transcribe({})).text;
  assert.equal(await transcribe({ response_format: 'text' }), expected + '\n');
  const srt = await transcribe({ response_format: 'srt' });
  assert.match(srt, /^1\n00:00:00,000 --> 00:00:01,000\n/);
  assert.match(await transcribe({ response_format: 'vtt' }), /^WEBVTT\n\n00:00:00\.000 --> /);
});

test('verbose_json', async () => {
  const answer = await transcribe({
    response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'], language: 'en', temperature: 0,
  });
  assert.equal(answer.duration, 3);
  assert.equal(answer.language, 'english');
  assert.equal(answer.segments.length, 3);
  assert.equal(answer.words.length, 9);
  assert.equal(answer.segments[1].start, 1);
  assert.equal(typeof answer.segments[0].avg_logprob, 'number');
});

test('logprobs', async () => {
  const answer = await transcribe({ include: ['logprobs'] });
  assert.equal(answer.logprobs.length, 9);
});

test('a stream', async () => {
  const expected = (await transcribe({})).text;
  let text = '';
  let done;
  for await (const event of await transcribe({ stream: true })) {
    if (event.type === 'transcript.text.delta') text += event.delta;
    if (event.type === 'transcript.text.done') done = event.text;
  }
  assert.equal(text, expected);
  assert.equal(done, expected);
});

test('an abort stops the engine', async () => {
  const abort = new AbortController();
  const answer = transcribe({ file: recording('long.wav'), prompt: SLOW }, { signal: abort.signal });
  await statusBecomes((state) => state.active === 1);
  abort.abort();
  await assert.rejects(answer, OpenAI.APIUserAbortError);
  await statusBecomes((state) => state.active === 0);
});

test('who leaves the loop of a stream stops the engine', async () => {
  const stream = await transcribe({ file: recording('long.wav'), prompt: SLOW, stream: true });
  for await (const event of stream) {
    assert.equal(event.type, 'transcript.text.delta');
    break;
  }
  await statusBecomes((state) => state.active === 0);
});

test('translations', async () => {
  const answer = await client.audio.translations.create({ file: recording('short.wav'), model: 'whisper-1' });
  assert.ok(answer.text.length > 0);
});

test('models', async () => {
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  assert.deepEqual(names, ['sim']);
  assert.equal((await client.models.retrieve('sim')).object, 'model');
  await assert.rejects(client.models.retrieve('none'), OpenAI.NotFoundError);
});

test('errors have their types', async () => {
  await assert.rejects(transcribe({ file: await toFile(Buffer.from('no recording'), 'a.wav') }), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.param, 'file');
    assert.match(error.requestID, /^req_/);
    return true;
  });
  await assert.rejects(transcribe({ response_format: 'xml' }), { status: 400, param: 'response_format' });
});

// Opens a session and gives it its settings; `events` of a type can be waited for.
async function realtime(settings) {
  const session = new OpenAIRealtimeWS({ model: 'whisper-1' }, client);
  const seen = [];
  const waiting = [];
  session.on('event', (event) => {
    seen.push(event);
    for (const wait of waiting.splice(0)) wait();
  });
  session.on('error', (error) => seen.push({ type: 'client error', error }));
  session.until = async (type) => {
    for (;;) {
      const at = seen.findIndex((event) => event.type === type || event.type.endsWith('error'));
      if (at >= 0) {
        assert.equal(seen[at].type, type, JSON.stringify(seen[at]));
        return seen.splice(0, at + 1);
      }
      await new Promise((resolve) => waiting.push(resolve));
    }
  };
  await session.until('session.created');
  session.send({ type: 'session.update', session: { type: 'transcription', audio: { input: settings } } });
  await session.until('session.updated');
  return session;
}

function speak(session, pcm) {
  for (let at = 0; at < pcm.length; at += 9600) {
    session.send({ type: 'input_audio_buffer.append', audio: pcm.subarray(at, at + 9600).toString('base64') });
  }
}

const COMPLETED = 'conversation.item.input_audio_transcription.completed';
const DELTA = 'conversation.item.input_audio_transcription.delta';

test('realtime, committed by the client', async () => {
  const session = await realtime({
    format: { type: 'audio/pcm', rate: 24000 }, transcription: { model: 'whisper-1' }, turn_detection: null,
  });
  speak(session, fs.readFileSync(path.join(process.env.RECORDINGS, 'speech.pcm')));
  session.send({ type: 'input_audio_buffer.commit' });
  const events = await session.until(COMPLETED);
  const completed = events.at(-1);
  assert.ok(completed.transcript.length > 0);
  assert.equal(events.filter((e) => e.type === DELTA).map((e) => e.delta).join(''), completed.transcript);
  assert.equal(completed.usage.type, 'duration');
  session.close();
});

test('realtime, with turns that the daemon finds', async () => {
  const session = await realtime({ turn_detection: { type: 'server_vad', silence_duration_ms: 400 } });
  const speech = fs.readFileSync(path.join(process.env.RECORDINGS, 'speech.pcm'));
  speak(session, Buffer.concat([Buffer.alloc(24000), speech, Buffer.alloc(48000)]));
  const kinds = (await session.until(COMPLETED)).map((event) => event.type);
  assert.ok(kinds.includes('input_audio_buffer.speech_started'), kinds.join());
  assert.ok(kinds.includes('input_audio_buffer.speech_stopped'), kinds.join());
  session.close();
});

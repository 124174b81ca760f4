"""python3 -m superfluid: transcribes, or asks a worker how it is."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import signal
import sys
from typing import Any, Optional, Sequence

import superfluid
from superfluid import Client, Live, Recording, Segment, SuperfluidError, Transcript

_LIVE_BYTES = 3200  # a tenth of a second


def _arguments(argv: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m superfluid", description=__doc__,
        epilog="Exit status: 0 done; 1 refused or failed; 2 wrong usage; 3 no worker, or the link was "
               "lost; 4 the deadline passed; 130 interrupted.")
    parser.add_argument("--connect", metavar="PATH", default=os.environ.get("SUPERFLUID_SOCKET"),
                        help="the worker's socket (default: $SUPERFLUID_SOCKET)")
    commands = parser.add_subparsers(dest="command", required=True)
    transcribe = commands.add_parser("transcribe", help="print what is said in a recording")
    transcribe.add_argument("file", help="a recording, or - for standard input")
    transcribe.add_argument("--json", action="store_true", help="segments and words, as JSON")
    way = transcribe.add_mutually_exclusive_group()
    way.add_argument("--inline", action="store_true", help="send the bytes, not the path")
    way.add_argument("--live", action="store_true", help="send 16-bit samples as they come")
    transcribe.add_argument("--rate", type=int, default=16_000, help="of live samples (16000)")
    transcribe.add_argument("--language", default="")
    transcribe.add_argument("--prompt", default="")
    transcribe.add_argument("--deadline", type=float, metavar="SECONDS")
    commands.add_parser("ping", help="say how the worker is")
    commands.add_parser("info", help="say what the worker is").add_argument(
        "--json", action="store_true")
    arguments = parser.parse_args(argv)
    if not arguments.connect:
        parser.error("which worker? --connect PATH, or $SUPERFLUID_SOCKET")
    return arguments


def _transcribe(client: Client, arguments: argparse.Namespace) -> None:
    options = {"language": arguments.language, "prompt": arguments.prompt,
               "deadline": arguments.deadline}
    audio: superfluid.Audio = arguments.file
    if arguments.live:
        audio = Live(rate=arguments.rate)
    elif arguments.inline or arguments.file == "-":
        with _open(arguments.file) as file:
            audio = Recording(file.read())
    with client.start(audio, **options) as job:
        show = _print_segment if not arguments.json else _nothing
        if arguments.live:
            with _open(arguments.file) as file:
                while data := file.read(_LIVE_BYTES):
                    job.push(data)
                    for segment in job.waiting():
                        show(segment)
            job.push(b"", end=True)
        for segment in job:
            show(segment)
        transcript = job.result()
    if arguments.json:
        print(json.dumps(_as_json(transcript), ensure_ascii=False))
    else:
        print(transcript.text)
    if transcript.note:
        print(transcript.note, file=sys.stderr)


def _nothing(_: Segment) -> None:
    pass


def _open(path: str) -> Any:
    return os.fdopen(os.dup(0), "rb", buffering=0) if path == "-" else open(path, "rb", buffering=0)


def _print_segment(segment: Segment) -> None:
    print(f"[{segment.start:8.2f} {segment.end:8.2f}] {segment.text}", flush=True)


def _as_json(transcript: Transcript) -> dict[str, Any]:
    segments = [dataclasses.asdict(segment) for segment in transcript.segments]
    for segment in segments:
        segment["words"] = [word._asdict() for word in segment["words"]]
    return {"text": transcript.text, "language": transcript.language,
            "duration": transcript.duration, "segments": segments}


def _ping(client: Client) -> None:
    health = client.ping()
    pong = health.pong
    print(f"answer in {health.round_trip * 1e6:.0f} us: engine {health.state}, "
          f"{pong.queue_depth} queued, {pong.open_transcriptions} transcriptions, "
          f"{pong.open_ops} ops, {pong.engine_steps} steps")


def _info(client: Client, as_json: bool) -> None:
    info = client.info
    facts = {"engine": info.engine, "protocol_version": info.version,
             "bundle_hash": info.bundle_hash.hex(), "calls": sorted(info.calls),
             "max_transcriptions": info.max_transcriptions,
             "open_transcriptions": info.limits.max_transcriptions,
             "max_lanes": info.limits.max_lanes}
    if as_json:
        print(json.dumps({**facts, "capabilities": info.capabilities}, ensure_ascii=False))
        return
    for name, value in facts.items():
        text = ", ".join(value) if isinstance(value, list) else value
        print(f"{name:21}  {text}")


def main(argv: Optional[Sequence[str]] = None) -> int:
    arguments = _arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        role = "driver" if arguments.command == "transcribe" else "observer"
        with superfluid.connect(arguments.connect, role=role) as client:
            if arguments.command == "transcribe":
                _transcribe(client, arguments)
            elif arguments.command == "ping":
                _ping(client)
            else:
                _info(client, arguments.json)
        return 0
    except superfluid.LinkClosedError as error:
        print(f"superfluid: {error.message}", file=sys.stderr)
        return 3
    except superfluid.DeadlineExceededError as error:
        print(f"superfluid: {error}", file=sys.stderr)
        return 4
    except SuperfluidError as error:
        print(f"superfluid: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"superfluid: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())

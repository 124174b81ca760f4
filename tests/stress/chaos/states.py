#!/usr/bin/python3
"""A daemon that gets into one state of the protocol, says so, and stays there: states.py STATE SOCKET.

It writes a line to standard output once it is there, and ends when standard input does.
"""

import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
import paths  # noqa: E402,F401  pylint: disable=unused-import
from worker import PATIENCE, pcm  # noqa: E402

import superfluid  # noqa: E402
from superfluid import Lane, Live, core, linkw_pb2 as pb  # noqa: E402
from superfluid.memory import Segment, send_fd  # noqa: E402

SLOW = "sim:step_us=20000 sim:steps_per_segment=1 sim:segment_ms=20"


def connect(path, **options):
    return superfluid.connect(path, wait_for_listener=True, connect_timeout=PATIENCE,
                              call_timeout=PATIENCE, **options)


def raw(path):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.connect(path)
    return sock


def encoded(client, message):
    return client._link.encoder.encode(message)[1]  # pylint: disable=protected-access


def frames_of(client):
    return client._frames  # pylint: disable=protected-access


def half_hello(path):
    from superfluid.frames import FrameEncoder
    sock = raw(path)
    sock.sendall(FrameEncoder().encode(pb.Hello(client_name=b"half", role=pb.Role.OBSERVER))[1][:20])
    return sock


def mid_header(path):
    client = connect(path)
    frames_of(client).sendall(encoded(client, pb.Ping())[:10])
    return client


def mid_frame(path):
    client = connect(path)
    request = pb.StateSyncReq(embed=pb.Embed(tokens=list(range(5000))))
    frames_of(client).sendall(encoded(client, request)[:4000])
    return client


def descriptor_unclaimed(path):
    client = connect(path)
    kept = [Segment.create(1 << 16) for _ in range(20)]
    for tag, segment in enumerate(kept):
        client._run(_send_fd(1000 + tag, segment.fd))  # pylint: disable=protected-access
    client.ping()
    return client, kept


def descriptor_awaited(path):
    client = connect(path)
    client._perform(core.Send(pb.BufAttach(buf_id=77, len=4096)))  # pylint: disable=protected-access
    client.ping()
    return client


def _send_fd(tag, fd):
    yield core.SendFd(tag, fd)


def _sequence(client, tokens=2000):
    result = client.tick([Lane(tokens=[i % 250 for i in range(tokens)], max_tokens=1)])
    return result.lanes[0].sequence, result.lanes[0].position


def mid_snapshot(path):
    client = connect(path)
    sequence, position = _sequence(client)
    size = client.call("export_size", sequence=sequence, range=pb.TokenRange(start=0, end=position),
                       space_id=client.info.state_spaces[0].space_id)
    buffer = client.allocate(size.required_bytes + (1 << 16))
    op = pb.StateOpSubmit(snapshot=pb.Snapshot(
        sequence=sequence, space_id=client.info.state_spaces[0].space_id, boundary_pos=position,
        buf_id=buffer.id, sizing_gen=size.sizing_gen))
    client.request(op, pb.StateOpAccepted)
    return client, buffer


def mid_emit(path):
    client = connect(path)
    tick = client.submit([Lane(tokens=[1, 2, 3], max_tokens=500)], partial_emits=True)
    next(iter(tick))
    return client, tick


def ticks_queued(path):
    client = connect(path)
    return client, [client.submit([Lane(tokens=[i], max_tokens=200)]) for i in range(30)]


def mid_audio(path):
    client = connect(path)
    job = client.start(Live(16_000), prompt=SLOW, deadline=3e6)
    job.push(pcm(2))
    next(iter(job))
    return client, job


def mid_file(path):
    client = connect(path)
    job = client.start(pathlib.Path(path).parent / "long.wav", prompt=SLOW)
    next(iter(job))
    return client, job


def mid_cancel(path):
    client = connect(path)
    jobs = [client.start(Live(16_000), prompt=SLOW) for _ in range(8)]
    for job in jobs:
        job.push(pcm(2))
    next(iter(jobs[0]))
    for job in jobs:
        job.cancel()
    return client, jobs


def mid_drain(path):
    client = connect(path)
    job = client.start(Live(16_000), prompt=SLOW)
    job.push(pcm(2))
    next(iter(job))
    client._perform(core.Send(pb.DrainReq(deadline_ms=600_000)))  # pylint: disable=protected-access
    client.ping()
    return client, job


STATES = {state.__name__: state for state in (
    half_hello, mid_header, mid_frame, descriptor_unclaimed, descriptor_awaited, mid_snapshot,
    mid_emit, ticks_queued, mid_audio, mid_file, mid_cancel, mid_drain)}


def main():
    held = STATES[sys.argv[1]](sys.argv[2])
    print("there", flush=True)
    sys.stdin.read()
    del held


if __name__ == "__main__":
    main()

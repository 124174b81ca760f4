"""Peers that read slowly, not at all or half; memory and files that change; resources that end."""

import os
import resource
import socket
import subprocess
import threading
import time

import figures
import states
from kills import Failure, check_serves, driver, make_worker, ping_in_time, require
from worker import Worker, pcm, wav

import superfluid
from superfluid import Lane, Live, Pcm, linkw_pb2 as pb
from superfluid.errors import SuperfluidError
from superfluid.frames import FrameDecoder, FrameEncoder

_FALLOC_FL_KEEP_SIZE, _FALLOC_FL_PUNCH_HOLE = 1, 2
FLOOD = 20_000
GROWTH_KIB = 96 << 10  # what an unread flood may cost: credit and the unsent answers


class RawLink:
    """A driver without a thread that reads."""

    def __init__(self, path):
        self.sock = states.raw(path)
        self.encoder = FrameEncoder()
        self.decoder = FrameDecoder()
        self.send(pb.Hello(client_name=b"raw", role=pb.Role.DRIVER,
                           proto_versions=pb.VersionRange(min=8, max=8)))
        require(self.receive() is not None, "HELLO has no answer")

    def send(self, message):
        seq, data = self.encoder.encode(message)
        self.sock.sendall(data)
        return seq

    def receive(self, size=1 << 16):
        """Returns the next frame, or None at the end of the link."""
        while (frame := self.decoder.next()) is None:
            data = self.sock.recv(size)
            if not data:
                return None
            self.decoder.feed(data)
        return frame

    def close(self):
        self.sock.close()


def raw_driver(worker):
    made = []

    def try_it():
        try:
            link = RawLink(worker.socket)
        except Failure:
            return False
        made.append(link)
        return True

    require(figures.wait_for(try_it), "the driver's place was not given free")
    return made[0]


def stopped_reader(worker, observer):
    """A peer that floods and reads nothing: it is not read either, and costs nobody else."""
    link = raw_driver(worker)
    before = figures.of_process(worker.process.pid).resident_kib
    link.sock.setblocking(False)
    request = pb.StateSyncReq(capabilities=pb.Empty())
    unsent = b"".join(link.encoder.encode(request)[1] for _ in range(FLOOD))
    sent = 0
    quiet = time.monotonic()
    while sent < len(unsent) and time.monotonic() - quiet < 0.5:
        try:
            sent += link.sock.send(unsent[sent:sent + (1 << 16)])
            quiet = time.monotonic()
        except BlockingIOError:
            ping_in_time(observer)
    require(sent < len(unsent), "all of a flood was taken from a peer that reads nothing")
    grown = figures.of_process(worker.process.pid).resident_kib - before
    require(grown < GROWTH_KIB, f"a peer that reads nothing cost {grown >> 10} MiB")
    link.close()


def slow_reader(worker, _observer):
    """A peer that reads a few bytes at a time gets every answer, in order."""
    link = raw_driver(worker)
    asked = [link.send(pb.StateSyncReq(create_sequence=pb.Empty())) for _ in range(200)]
    for seq in asked:
        frame = link.receive(size=7)
        require(frame is not None and frame.correlation == seq, f"no answer to {seq}")
    link.close()


def half_closed(worker, _observer):
    """A peer that has said all it has to say still gets its answers, and then the end."""
    link = raw_driver(worker)
    asked = [link.send(pb.StateSyncReq(create_sequence=pb.Empty())) for _ in range(50)]
    link.sock.shutdown(socket.SHUT_WR)
    answered = []
    while (frame := link.receive()) is not None:
        answered.append(frame.correlation)
    require(answered == asked[:len(answered)], "answers of a link that is half closed are not in order")
    link.close()


def unsealed_memory(worker, _observer):
    """Memory that could be cut is refused; what is sealed cannot be cut."""
    with driver(worker) as client:
        fd = os.memfd_create("unsealed", os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, 1 << 16)
        client._run(states._send_fd(500, fd))  # pylint: disable=protected-access
        try:
            client.request(pb.BufAttach(buf_id=500, len=1 << 16), pb.Error, timeout=10)
        except SuperfluidError:
            pass
        os.ftruncate(fd, 0)
        os.close(fd)
        client.ping()


def punched_memory(worker, _observer):
    """Pages that vanish under audio and state: bytes become zeros, and nobody crashes."""
    stop = threading.Event()
    with driver(worker) as client:
        buffer = client.share(pcm(20))
        fd = buffer.segment.fd

        def punch():
            libc_fallocate = _fallocate()
            while not stop.is_set():
                libc_fallocate(fd, _FALLOC_FL_KEEP_SIZE | _FALLOC_FL_PUNCH_HOLE, 0, buffer.segment.size)

        thread = threading.Thread(target=punch)
        thread.start()
        try:
            for _ in range(20):
                span = pb.BufferSpan(buf_id=buffer.id, offset=0, length=buffer.segment.size)
                request = pb.StateSyncReq(transcribe=pb.Transcribe(
                    buffer=pb.AudioBuffer(span=span, pcm=_pcm_format())))
                client.request(request, pb.StateSyncRes)
        finally:
            stop.set()
            thread.join()
        client.ping()


def _pcm_format():
    return pb.PcmFormat(sample_rate_hz=16000, channels=1, sample_format=pb.SampleFormat.S16)


def _fallocate():
    import ctypes
    function = ctypes.CDLL(None, use_errno=True).fallocate
    function.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
    return function


def changing_files(worker, _observer):
    """Recordings that are cut, grown, replaced and removed while they are read."""
    path = worker.folder / "changing.wav"
    whole = wav(30)
    with driver(worker) as client:
        for turn in range(30):
            path.write_bytes(whole)
            with client.start(path, prompt="sim:step_us=200") as job:
                if turn % 5 == 0:
                    os.truncate(path, 1000 + turn)
                elif turn % 5 == 1:
                    path.write_bytes(os.urandom(len(whole)))
                elif turn % 5 == 2:
                    path.unlink()
                elif turn % 5 == 3:
                    other = worker.folder / "other.wav"
                    other.write_bytes(wav(1))
                    other.rename(path)
                else:
                    with open(path, "ab") as file:
                        file.write(whole)
                try:
                    job.result()
                except SuperfluidError:
                    pass
        client.ping()


def no_descriptors(worker, observer):
    """A worker at the end of its descriptors says so, and serves again when there are some."""
    most = len(os.listdir(f"/proc/{worker.process.pid}/fd")) + 12
    soft, hard = resource.prlimit(worker.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(worker.process.pid, resource.RLIMIT_NOFILE, (most, hard))
    crowd = []
    try:
        for _ in range(40):
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            sock.setblocking(False)
            try:
                sock.connect(worker.socket)
            except BlockingIOError:
                sock.close()
                break
            crowd.append(sock)
        ping_in_time(observer)
    finally:
        for sock in crowd:
            sock.close()
        resource.prlimit(worker.process.pid, resource.RLIMIT_NOFILE, (soft, hard))


def many_cancels(worker, _observer, count=1000):
    """Cancels at any moment: each transcription has one answer."""
    with driver(worker) as client:
        for turn in range(count // 50):
            jobs = [client.start(Pcm(pcm(1), 16000, 1, "s16"), prompt="sim:step_us=100")
                    for _ in range(50)]
            for place, job in enumerate(jobs):
                if (place + turn) % 3:
                    job.cancel()
            for job in jobs:
                try:
                    job.result(timeout=60)
                except superfluid.CancelledError:
                    pass
                job.close()


def full_disk(tally):
    """A log that takes nothing: every write says ENOSPC."""
    with open("/dev/full", "wb") as full:
        worker = Worker("--log-level", "debug")
        worker.process.kill()
        worker.process.wait()
        command = worker.process.args
        worker.process = subprocess.Popen(command, stderr=full, stdin=subprocess.DEVNULL)
    with worker, states.connect(worker.socket, role="observer") as observer:
        check_serves(worker, observer)
    del tally


def many_sessions(tally, count):
    """Sessions with far deadlines and descriptors, one after another: nothing grows."""
    with make_worker() as worker:
        def session():
            with driver(worker) as client:
                client.share(1 << 16)
                client.allocate(1 << 14)
                job = client.start(Live(16_000), deadline=3e6)
                job.push(pcm(0.05))
                client.submit([Lane(tokens=[1, 2], max_tokens=1)], deadline=86_400 * 30)
                client.ping()

        for _ in range(20):
            session()
        before = figures.settle(worker.process.pid, figures.of_process(worker.process.pid))
        for _ in range(count):
            session()
        after = figures.settle(worker.process.pid, before)
        tally.note(f"{count} sessions: {before} -> {after}")
        require(after.descriptors <= before.descriptors + 2, "descriptors grow")
        require(after.shared_maps <= before.shared_maps + 2, "mappings grow")
        require(after.threads <= before.threads + 2, "threads grow")
        require(after.resident_kib <= before.resident_kib + (32 << 10), "memory grows")


PEERS = (slow_reader, half_closed, stopped_reader, unsealed_memory, punched_memory, changing_files,
         no_descriptors, many_cancels)


def run(tally, scale):
    with make_worker() as worker:
        for _ in range(scale):
            for peer in PEERS:
                tally.count("peers", peer.__name__, _and_serves, worker, peer)
    tally.count("resources", "full_disk", full_disk, tally)
    tally.count("resources", "many_sessions", many_sessions, tally, 300 * scale)


def _and_serves(worker, peer):
    with states.connect(worker.socket, role="observer") as observer:
        peer(worker, observer)
        check_serves(worker, observer)



"""What the tests of the client for Python share: a worker for each class, and how to connect."""

import unittest

from worker import PATIENCE, Worker, wav

import superfluid
from superfluid import aio

SLOW = "sim:step_us=50000"  # 10 steps for each second of audio


def connect(worker, **options):
    return superfluid.connect(worker.socket, wait_for_listener=True, connect_timeout=PATIENCE,
                              call_timeout=PATIENCE, **options)


def aconnect(worker, **options):
    return aio.connect(worker.socket, wait_for_listener=True, connect_timeout=PATIENCE,
                       call_timeout=PATIENCE, **options)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = Worker("--media-root", "/")
        cls.file = cls.worker.folder / "talk.wav"
        cls.file.write_bytes(wav(5))

    @classmethod
    def tearDownClass(cls):
        cls.worker.__exit__()

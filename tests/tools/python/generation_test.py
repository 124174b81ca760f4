#!/usr/bin/python3
"""The Python client's ticks, state and buffers, against the real worker with the `sim` engine."""

import pathlib
import signal
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
from worker import PATIENCE, Worker  # noqa: E402
from client_case import Case, connect  # noqa: E402

import superfluid  # noqa: E402
from superfluid import Lane  # noqa: E402
from superfluid import linkw_pb2 as pb  # noqa: E402

class Generation(Case):
    def test_a_sequence_goes_on_as_its_prefix_says(self):
        with connect(self.worker) as client:
            prompt = list(b"Once upon a time")
            first = client.tick([Lane(tokens=prompt, max_tokens=20)]).lanes[0]
            self.assertEqual((len(first.tokens), first.position), (20, len(prompt) + 20))
            self.assertEqual(first.finish_reason, "NOT_FINISHED")
            fill = client.tick([Lane(kind="prefill", tokens=prompt)]).lanes[0]
            self.assertEqual(fill.tokens, [])
            drawn = []
            for _ in range(4):
                result = client.tick([Lane(sequence=fill.sequence, max_tokens=5)]).lanes[0]
                drawn += result.tokens
            self.assertEqual(drawn, first.tokens)

    def test_lanes_logits_and_errors(self):
        with connect(self.worker) as client:
            result = client.tick([Lane(tokens=[1, 2], max_tokens=1, want_logits=True),
                                  Lane(sequence=999, max_tokens=1),
                                  Lane(kind="verify", tokens=[1, 2], max_tokens=3, drafts=[1, 1])])
            good, bad, verified = result.lanes
            self.assertEqual(good.logits[0].token, good.tokens[0])
            self.assertIsInstance(bad.error, superfluid.UnknownHandleError)
            self.assertEqual(bad.finish_reason, "LANE_ERROR")
            self.assertGreaterEqual(len(verified.tokens), 1)
            with self.assertRaises(superfluid.InvalidArgumentError):
                client.tick([Lane(kind="prefill", tokens=[1], max_tokens=1)] * 1 + [Lane(tag=0)])
            with self.assertRaises(superfluid.InvalidArgumentError):
                client.tick([Lane(kind="guess")])
            with self.assertRaises(superfluid.InvalidArgumentError):
                client.tick([Lane(tokens=[0] * 5000)])

    def test_emits_say_the_same_as_the_result(self):
        with connect(self.worker) as client:
            with client.submit([Lane(tokens=[5], max_tokens=50)], partial_emits=True) as tick:
                tokens = [token for emit in tick for token in emit.tokens]
                result = tick.result()
            self.assertEqual(result.dropped_emits, 0)
            self.assertEqual(tokens, result.lanes[0].tokens)

    def test_many_ticks_on_the_way_never_overwrite_their_inputs(self):
        with connect(self.worker) as client:
            ticks, refused = [], 0
            for i in range(200):
                try:
                    ticks.append(client.submit([Lane(tokens=[i % 256] * 4096, max_tokens=1)]))
                except superfluid.BusyError:
                    refused += 1
                    ticks.pop(0).result()
            for tick in ticks:
                self.assertIsNone(tick.result().lanes[0].error)
            self.assertGreater(refused, 0)

    def test_ticks_that_nobody_waits_for_give_their_slots_back(self):
        with connect(self.worker) as client:
            lane = client.tick([Lane(tokens=[1], max_tokens=1)]).lanes[0]
            slots = client._session.tokens_in.spec.slots
            for i in range(2 * slots + 8):
                more = Lane(sequence=lane.sequence, tokens=[i % 200], max_tokens=0, kind="prefill")
                with client.submit([more], partial_emits=i % 2 == 0):
                    pass
                if i % 8 == 0:
                    self.assertIsNone(client.tick([more]).lanes[0].error)  # behind all of them
            self.assertIsNone(client.tick([more]).lanes[0].error)
            self.assertEqual(client._inboxes, {})

    def test_a_closed_tick_has_an_error_and_no_waiting(self):
        with connect(self.worker) as client:
            with client.submit([Lane(tokens=[1], max_tokens=1)]) as tick:
                result = tick.result()
            self.assertIs(tick.result(), result)
            self.worker.process.send_signal(signal.SIGSTOP)
            try:
                with client.submit([Lane(tokens=[1], max_tokens=1)]) as tick:
                    pass
                with self.assertRaises(superfluid.CancelledError):
                    tick.result()
                self.assertEqual(list(tick), [])
            finally:
                self.worker.process.send_signal(signal.SIGCONT)

    def test_a_stop_bit_ends_a_lane(self):
        with connect(self.worker) as client:
            client.set_lane_stop(3)
            lane = client.tick([Lane(tokens=[1], max_tokens=100, stop_slot=3)]).lanes[0]
            self.assertEqual((lane.tokens, lane.finish_reason), ([], "STOPPED"))
            client.set_lane_stop(3, False)
            lane = client.tick([Lane(tokens=[1], max_tokens=10, stop_slot=3)]).lanes[0]
            self.assertEqual(len(lane.tokens), 10)

    def test_state_moves_to_another_worker(self):
        tokens = list(b"The state of a sequence, saved here and restored elsewhere.")
        with connect(self.worker) as client:
            made = client.tick([Lane(kind="prefill", tokens=tokens)]).lanes[0]
            saved = client.snapshot(made.sequence, made.position)
            here = client.tick([Lane(sequence=made.sequence, max_tokens=20)]).lanes[0].tokens
        with Worker() as other, connect(other) as client:
            sequence = client.restore(saved)
            rest = tokens[saved.position:]
            there = client.tick([Lane(sequence=sequence, tokens=rest, max_tokens=20)]).lanes[0]
            self.assertEqual(there.tokens, here)
            damaged = saved.spaces[0].sealed[:-1] + bytes([saved.spaces[0].sealed[-1] ^ 1])
            with self.assertRaises(superfluid.EnvelopeMismatchError):
                client.restore(saved._replace(
                    spaces=(superfluid.SavedSpace(saved.spaces[0].space_id, damaged),)))

    def test_prefixes_are_published_matched_and_leased(self):
        tokens = list(range(64))
        with connect(self.worker) as client:
            made = client.tick([Lane(kind="prefill", tokens=tokens)]).lanes[0]
            client.publish(made.sequence, tokens)
            self.assertEqual(set(client.match(tokens + [1]).values()), {64})
            seed = client.acquire_seed(tokens, 64)
            self.assertGreater(seed.ttl_ticks, 0)
            client.release_seed(seed)
            with self.assertRaises(superfluid.NotFoundError):
                client.acquire_seed([9] * 64, 64)

    def test_buffers(self):
        with connect(self.worker) as client:
            buffer = client.allocate(10_000)
            buffer.write(b"abc", 5)
            self.assertEqual(buffer.read(4, 5), b"\0abc\0")
            client.release(buffer)
            shared = client.share(b"12345")
            self.assertIsNone(shared.refusal)
            client.release(shared)
            with self.assertRaises(superfluid.OutOfMemoryError):
                client.allocate(1 << 50)
            with self.assertRaises(superfluid.UnsupportedError):
                client.run_op(pb.StateOpSubmit())


class Together(Case):
    def test_threads_that_attach_the_rings_at_once(self):
        with connect(self.worker) as client:
            results = []
            threads = [threading.Thread(target=lambda i=i: results.append(
                client.tick([Lane(tokens=[i], max_tokens=3)]).lanes[0].tokens)) for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)
            self.assertEqual([len(tokens) for tokens in results], [3] * 8)


if __name__ == "__main__":
    unittest.main()

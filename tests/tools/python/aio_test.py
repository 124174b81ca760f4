#!/usr/bin/python3
"""The asyncio client against the real worker with the `sim` engine."""

import asyncio
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
from worker import PATIENCE, Worker, pcm  # noqa: E402
from client_case import SLOW, Case, aconnect  # noqa: E402

import superfluid  # noqa: E402
from superfluid import Lane, Live, Pcm  # noqa: E402

class Asyncio(Case):
    def run_async(self, work):
        async def whole():
            async with await aconnect(self.worker) as client:
                await asyncio.wait_for(work(client), PATIENCE)

        asyncio.run(whole())

    def test_transcriptions_side_by_side_and_a_cancel(self):
        async def work(client):
            async def one(i):
                async with await client.start(Pcm(pcm(3, seed=i)), prompt=SLOW) as job:
                    async for _ in job:
                        if i == 2:
                            await job.cancel()
                    return await job.result()

            results = await asyncio.gather(*(one(i) for i in range(5)), return_exceptions=True)
            self.assertIsInstance(results[2], superfluid.CancelledError)
            self.assertEqual(len({r.text for r in results[:2] + results[3:]}), 4)

        self.run_async(work)

    def test_a_task_that_is_cancelled_cancels_its_request(self):
        async def work(client):
            task = asyncio.create_task(client.transcribe(self.file, prompt=SLOW))
            while not (await client.ping()).pong.open_transcriptions:
                pass
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            while (await client.ping()).pong.open_transcriptions:
                pass
            self.assertEqual(len((await client.transcribe(self.file)).segments), 5)

        self.run_async(work)

    def test_live_audio(self):
        async def work(client):
            async with await client.start(Live()) as job:
                async def feed():
                    for i in range(40):
                        await job.push(pcm(1, seed=i), end=i == 39)

                feeder = asyncio.create_task(feed())
                segments = [segment async for segment in job]
                await feeder
                self.assertEqual(len(segments), 40)
                self.assertEqual((await job.result()).duration, 40.0)

        self.run_async(work)

    def test_ticks_and_state(self):
        async def work(client):
            async with await client.submit([Lane(tokens=[1, 2, 3], max_tokens=9)],
                                           partial_emits=True) as tick:
                emits = [emit async for emit in tick]
                lane = (await tick.result()).lanes[0]
            self.assertEqual([t for emit in emits for t in emit.tokens], lane.tokens)
            saved = await client.snapshot(lane.sequence, lane.position)
            sequence = await client.restore(saved)
            self.assertNotEqual(sequence, lane.sequence)
            buffer = await client.share(b"x")
            await client.release(buffer)
            with self.assertRaises(superfluid.NotFoundError):
                await client.transcribe("/no/such/file.wav")

        self.run_async(work)

    def test_a_worker_that_dies_ends_every_call(self):
        async def whole():
            with Worker() as worker:
                async with await aconnect(worker) as client:
                    job = await client.start(Live())
                    worker.process.kill()
                    with self.assertRaises(superfluid.LinkClosedError):
                        await job.result(PATIENCE)
                    with self.assertRaises(superfluid.LinkClosedError):
                        await client.ping()

        asyncio.run(whole())


if __name__ == "__main__":
    unittest.main()

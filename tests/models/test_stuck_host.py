"""A host with a thread that never comes back: its supervisor hears no more of it and starts it anew."""

import asyncio
import os
import threading

import pytest

from dynabench.kit import heartbeat
from dynabench.models.host.app import create_app
from dynabench.models.host.compute_threads import Threads
from dynabench.models.host.repository import Repository

pytestmark = pytest.mark.release


def test_a_host_beats_only_while_all_its_threads_come_back(monkeypatch, tmp_path):
    listening, beating = os.pipe()
    os.set_blocking(listening, False)
    monkeypatch.setenv(heartbeat.VARIABLE, str(beating))
    monkeypatch.setattr(heartbeat, "EVERY", 0.02)
    monkeypatch.setattr(heartbeat, "STALLED", 0.2)

    def beats():
        try:
            return len(os.read(listening, 65536))
        except BlockingIOError:
            return 0

    async def until_heard():
        while not beats():
            await asyncio.sleep(0.02)

    async def until_silent():
        while beats():
            await asyncio.sleep(0.5)

    async def story():
        stuck, threads = threading.Event(), Threads(1, "test")
        app = create_app(Repository([tmp_path]))
        try:
            async with asyncio.timeout(30), app.router.lifespan_context(app):
                heartbeat.start()
                await until_heard()
                assert not await threads.wait_for(threads.submit(stuck.wait, 60), 0.05)
                await until_silent()
                stuck.set()
                await until_heard()
        finally:
            stuck.set()
            threads.close(wait=True)

    try:
        asyncio.run(story())
    finally:
        os.close(listening)
        os.close(beating)

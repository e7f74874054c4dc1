"""Waits for a model host that has just been started."""

import asyncio

from dynabench.models.client import Host


def until_ready(url: str) -> None:
    """Return once it has loaded its models."""

    async def wait() -> None:
        host = Host(url, 5.0)
        try:
            for _ in range(1200):
                if await host.ready():
                    return
                await asyncio.sleep(0.05)
        finally:
            await host.close()
        raise AssertionError("the host did not become ready")

    asyncio.run(wait())

"""Bodies to send, and a way to send them from any address."""

import httpx2
import pytest

MIB = 2**20


class CountedBody:
    """A body that counts how much of it was read."""

    def __init__(self, size, part=64 * 1024, head=b""):
        self.size, self.part, self.head = size, part, head
        self.read = 0

    async def __aiter__(self):
        if self.head:
            yield self.head
        while self.read < self.size:
            self.read += self.part
            yield b"x" * self.part


@pytest.fixture
def ask(client):
    """Send a request to the application of `client` from an address; answers as they come."""

    def run(method, path, address="192.0.2.1", **how):
        async def story():
            transport = httpx2.ASGITransport(client.app, client=(address, 1))
            async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=60) as http:
                return await http.request(method, path, **how)

        return client.portal.call(story)

    return run


JSON = {"Content-Type": "application/json"}


FORM = {"Content-Type": "multipart/form-data; boundary=b"}

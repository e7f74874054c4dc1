"""The server of a web process, which ends live streams before it waits for its answers to end."""

import socket
from typing import cast

import uvicorn
from fastapi import FastAPI


class WebServer(uvicorn.Server):
    """Serves the application; at a shutdown no open page keeps it waiting."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the live streams, then stop as usual."""
        await cast(FastAPI, self.config.app).state.live.close()
        await super().shutdown(sockets)

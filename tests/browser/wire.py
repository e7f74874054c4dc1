"""A wire between a browser and a server that can be cut, as a train that enters a tunnel does."""

import socket
import threading
from contextlib import suppress


class Wire:
    """Passes bytes from a port of its own to `port`, until it is cut."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self.port = self._listening.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections there are; new ones come about again."""
        pairs, self._pairs = self._pairs, []
        for first in (end for pair in pairs for end in pair):
            with suppress(OSError):
                first.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End everything."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self._to))
                except OSError:  # the server takes nobody just now; whoever came finds the line dead and tries again
                    near.close()
                    continue
                self._pairs.append((near, far))
                threading.Thread(target=_both, args=(near, far), daemon=True).start()


def _both(near: socket.socket, far: socket.socket) -> None:
    with near, far:
        back = threading.Thread(target=_pass, args=(far, near), daemon=True)
        back.start()
        _pass(near, far)
        back.join()


def _pass(giving: socket.socket, taking: socket.socket) -> None:
    with suppress(OSError):
        while part := giving.recv(65536):
            taking.sendall(part)
    with suppress(OSError):
        taking.shutdown(socket.SHUT_RDWR)

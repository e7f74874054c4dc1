"""A real Ray on this machine, started once for all tests that ask it."""

import gc
import socket
import warnings
from pathlib import Path
from typing import Any

from dynabench.kit.settings import Settings


class Ray:
    """Started when it is first needed, ended when those are through who need it; `port` is where Serve answers."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._module: Any = None
        self.port = 0

    def start(self) -> Any:
        """The module `ray`, connected."""
        if self._module is None:
            from dynabench_ray.cluster import connect

            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # its own, of what it imports
                self._module = connect(Settings(ray="local", home=self._home))
                from ray import serve

                serve.start(http_options={"host": "127.0.0.1", "port": self.port})
        return self._module

    def stop(self) -> None:
        """End it, if it runs."""
        if self._module is not None:
            from ray import serve

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it leaves its processes' pipes to the collector
                serve.shutdown()
                self._module.shutdown()
                self._module = None
                gc.collect()

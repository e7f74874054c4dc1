"""Dynabench: people try to fool models, other people check the attempts, the checked attempts become benchmarks."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynabench.client import ApiError, Client

__version__ = "0.1.0"
__all__ = ["ApiError", "Client", "__version__"]


def __getattr__(name: str) -> Any:
    """`Client` and `ApiError` on demand: a light install has no HTTP client and needs none."""
    if name in ("ApiError", "Client"):
        try:
            client = import_module("dynabench.client")
        except ModuleNotFoundError as error:
            from dynabench.kit.distributions import PLATFORM, install_command

            raise ImportError(f"{name} comes with the platform: {install_command(PLATFORM)}") from error
        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

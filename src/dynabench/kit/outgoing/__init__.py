"""Calls to addresses that users name: the one client for them, and which addresses it calls."""

from dynabench.kit.outgoing.addresses import AllowedHosts, Refused, check_address
from dynabench.kit.outgoing.client import MAX_REPLY_BYTES, Interrupted, OutgoingClient, Reply, Unreached

__all__ = [
    "MAX_REPLY_BYTES",
    "AllowedHosts",
    "Interrupted",
    "OutgoingClient",
    "Refused",
    "Reply",
    "Unreached",
    "check_address",
]

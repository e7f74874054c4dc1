"""Calls to addresses that users name: the one client for them, and which addresses it calls."""

from dynabench.outgoing.addresses import AllowedHosts, Refused, check_address
from dynabench.outgoing.client import MAX_REPLY_BYTES, Interrupted, OutgoingClient, Reply, Unreached

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

"""Calls to addresses that users name: the one client for them, and which addresses it calls."""

from dynabench.kit.outgoing.addresses import AllowedHosts, RefusedAddress, check_address
from dynabench.kit.outgoing.client import MAX_REPLY_BYTES, HttpReply, Interrupted, OutgoingClient, Unreached

__all__ = [
    "MAX_REPLY_BYTES",
    "AllowedHosts",
    "HttpReply",
    "Interrupted",
    "OutgoingClient",
    "RefusedAddress",
    "Unreached",
    "check_address",
]

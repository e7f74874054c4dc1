"""Calls to addresses that users name: the one client for them, and which addresses it calls."""

from dynabench.outgoing.addresses import Allowed, Refused, checked
from dynabench.outgoing.client import MOST, Client, Interrupted, Reply, Unreached

__all__ = ["MOST", "Allowed", "Client", "Interrupted", "Refused", "Reply", "Unreached", "checked"]

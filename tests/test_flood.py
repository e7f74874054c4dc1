"""A platform that a few addresses of this machine flood goes on answering others, and heals when they end."""

import asyncio
import json

import pytest

from scripts import flood

pytestmark = pytest.mark.release


@pytest.mark.timeout(900)
def test_a_bystander_is_answered_while_several_addresses_flood():
    """Cold leaderboards, bodies of all kinds, made-up cookies and answers that nobody reads, from 127.0.1.x alone.

    Half of the connections send a body that trickles: they would hold all places.
    """
    kinds = flood.KINDS + (flood.trickle,) * len(flood.KINDS)
    figures = asyncio.run(flood.run(connections=640, seconds=20, addresses=4, kinds=kinds))
    text = json.dumps(figures, indent=1)
    assert set(figures["bystander"]) == {"200"}, text
    assert set(figures["after"]) == {"200"}, text
    assert figures["replaced"] == [], text
    assert figures["web process, most MB"] < flood.MOST_MEMORY, text
    kinds = {name.partition(" ")[0] for name in figures["answers"]}
    assert {kind.__name__ for kind in flood.KINDS} == kinds, text

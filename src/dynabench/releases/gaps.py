"""How much better models are on the public than on the hidden part to test on: a sign that they have seen the former.

The parts were drawn at random from one pool, so a model that saw neither differs on them by chance alone.
"""

from math import hypot

from sqlalchemy.orm import Session

from dynabench.accounts.tables import Person
from dynabench.leaderboards import entrants
from dynabench.leaderboards.entrants import Cell
from dynabench.releases.schemas import GapOut
from dynabench.releases.tables import Release
from dynabench.scoring import released


def gaps(session: Session, viewer: Person | None, release: Release) -> list[GapOut]:
    """The gap of each model that `viewer` may see and that was scored on both parts, the largest first.

    Submissions whose score on the hidden part is held back (`scoring.released`) are left out: a gap would tell it.
    """
    field = entrants.field(session, viewer, release.task_id)
    data = {each.version_id: each for each in field.data}
    test, hidden = data.get(release.test_id or 0), data.get(release.hidden_id or 0)
    if test is None or hidden is None:
        return []
    primary = field.metrics[0]
    held = released.told(session, release.task_id, {hidden.version_id: hidden.rows}, primary)
    shown = [each for each in field.entrants if (each.id, hidden.version_id) not in held and not each.anonymous]
    scores = entrants.scores(session, field, shown, (test, hidden), (primary,))
    found = []
    for each in shown:
        public, secret = scores.get((each.id, test.id, primary.name)), scores.get((each.id, hidden.id, primary.name))
        if public and secret:
            gap, low, high = difference(public, secret, primary.direction)
            found.append(
                GapOut(
                    model=each.label, version=each.version, entered_at=each.entered_at, public=public.value,
                    hidden=secret.value, gap=gap, low=low, high=high, n=(public.n, secret.n),
                )
            )  # fmt: skip
    return sorted(found, key=lambda each: (-each.gap, each.model))


def difference(public: Cell, hidden: Cell, direction: int = 1) -> tuple[float, float | None, float | None]:
    """How much better the first score is than the second, with limits that follow from those of both, whose rows are
    independent of each other: Zou and Donner, Statistics in Medicine 27 (2008) 1693-1702. None where there are none.
    """
    value = public.value - hidden.value
    if None in (public.low, public.high, hidden.low, hidden.high):
        return direction * value, None, None
    down = hypot(public.value - (public.low or 0.0), (hidden.high or 0.0) - hidden.value)
    up = hypot((public.high or 0.0) - public.value, hidden.value - (hidden.low or 0.0))
    low, high = value - down, value + up
    return (value, low, high) if direction > 0 else (-value, -high, -low)

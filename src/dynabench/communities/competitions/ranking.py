"""The ranking of a competition: vMER of each team with its interval, and the places that each team may have.

A team's vMER is the share of its examples that fooled the targets and were found correct. Withdrawn and hidden examples
used the budget and count as failures, so that withdrawing raises no team's share. Examples without a verdict count as
not verified yet, and are told beside it. Places come from `stats.ranks` with bootstrap replicates over each team's
examples: teams whose difference could be chance share places.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from dynabench.communities.competitions import queries
from dynabench.communities.competitions.tables import Competition
from dynabench.stats.bootstrap import mean_replicates
from dynabench.stats.ranks import RankInterval, rank_intervals
from dynabench.stats.rates import Rate, wilson
from dynabench.stats.verdict import Verdict

CHUNK = 400


@dataclass(frozen=True)
class EntryOutcomes:
    """The examples of a team: fooled or not, verified or not, and how many of the fooling ones wait for a verdict."""

    fooled: Sequence[bool]
    verified: Sequence[bool]
    pending: int = 0


@dataclass(frozen=True)
class RankedTeam:
    """A line of the ranking; `rank` has no places where the team is not ranked, for the `reason` in it."""

    team_id: int
    name: str
    spent: int
    outcomes: EntryOutcomes
    vmer: Rate
    rank: RankInterval
    withdrawn: bool = False

    @property
    def verified(self) -> int:
        """The number of verified fooling examples."""
        return sum(self.outcomes.verified)

    @property
    def fooled(self) -> int:
        """The number of fooling examples, verified or not."""
        return sum(self.outcomes.fooled)


def _outcomes(session: Session, competition_id: int, at: datetime | None) -> dict[int, EntryOutcomes]:
    rows = [row for row in session.execute(queries.examples(competition_id)) if at is None or row.at <= at]
    earlier: Mapping[int, str] | None = None if at is None else _verdicts_at(session, [row.id for row in rows], at)
    fooled: dict[int, list[bool]] = defaultdict(list)
    verified: dict[int, list[bool]] = defaultdict(list)
    pending: dict[int, int] = defaultdict(int)
    for row in rows:
        verdict = row.verdict if earlier is None else earlier.get(row.id, str(Verdict.PENDING))
        gone = row.hidden or (row.retracted_at is not None and (at is None or row.retracted_at <= at))
        counts = bool(row.fooled) and not gone
        fooled[row.team_id].append(counts)
        verified[row.team_id].append(counts and verdict == Verdict.CORRECT)
        pending[row.team_id] += counts and verdict == Verdict.PENDING
    return {team: EntryOutcomes(fooled[team], verified[team], pending[team]) for team in fooled}


def _verdicts_at(session: Session, example_ids: Sequence[int], at: datetime) -> dict[int, str]:
    latest: dict[int, str] = {}
    for start in range(0, len(example_ids), CHUNK):
        for event in session.scalars(queries.verdicts(example_ids[start : start + CHUNK])):
            if event.at <= at:
                latest[event.example_id] = event.verdict
    return latest


def read_ranking(session: Session, competition: Competition, at: datetime | None = None) -> list[RankedTeam]:
    """Return the teams of a competition, best first, as they stand now or stood at a moment.

    Cost: the competition's examples, and for a moment in the past their verdicts.
    """
    by_team = _outcomes(session, competition.id, at)
    teams = [
        (team.id, team.name, entry.withdrawn_at is not None)
        for entry, team in session.execute(queries.entries(competition.id))
        if at is None or entry.entered_at <= at
    ]
    outcomes = {team_id: by_team.get(team_id, EntryOutcomes((), ())) for team_id, _name, _gone in teams}
    ranked = [
        team_id
        for team_id, _name, withdrawn in teams
        if not withdrawn and len(outcomes[team_id].verified) >= competition.least_examples
    ]
    ranks = dict(zip(ranked, rank_outcomes([outcomes[id].verified for id in ranked]), strict=True))
    lines = []
    for team_id, name, withdrawn in teams:
        verified = outcomes[team_id].verified
        reason = "withdrawn" if withdrawn else "too few examples"
        rank = ranks.get(team_id, RankInterval(None, None, None, reason))
        rate = wilson(sum(verified), len(verified))
        lines.append(RankedTeam(team_id, name, len(verified), outcomes[team_id], rate, rank, withdrawn))
    return sorted(lines, key=_order)


def _order(line: RankedTeam) -> tuple[bool, bool, float, str]:
    return (line.withdrawn, line.rank.low is None, -(line.vmer.value or 0.0), line.name.casefold())


def rank_outcomes(outcomes: Sequence[Sequence[bool]]) -> list[RankInterval]:
    """Return the places that each of several teams may have, all right at once with 95 % probability.

    Each team's examples are drawn anew with numbers of their own, since teams write different examples.
    """
    if not outcomes:
        return []
    values = [float(np.mean(team)) for team in outcomes]
    replicates = [
        mean_replicates(np.asarray(team, float), f"team {place} of {len(outcomes)}, {len(team)} examples")
        for place, team in enumerate(outcomes)
    ]
    return rank_intervals(values, np.stack(replicates, axis=1))

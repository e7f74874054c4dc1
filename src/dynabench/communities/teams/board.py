"""Figures of teams: of one with its members, and the board of all."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.communities.teams import queries
from dynabench.communities.teams.tables import Team
from dynabench.people.accounts.tables import Person
from dynabench.stats.rates import ErrorCounts, ErrorRates, clustered_error_rates

HEADER = ("rank", "team", "task", "members", "examples", "fooled", "verified", "vmer", "vmer_low", "vmer_high", "n")
LEAST_EXAMPLES = 20
"""Examples with a known outcome that a rank needs, as in the hall of fame."""


@dataclass(frozen=True)
class TeamFigures:
    """A team with what each person wrote for it, by the person's id; `rank` is None where there is too little."""

    team: Team
    members: int
    by_person: Mapping[int, ErrorCounts]
    rank: int | None = None

    @property
    def counts(self) -> ErrorCounts:
        """The sums over all who are or were in the team."""
        return sum(self.by_person.values(), ErrorCounts())

    @property
    def rates(self) -> ErrorRates:
        """MER and vMER, with intervals that are clustered by member."""
        return clustered_error_rates(list(self.by_person.values()))


@dataclass(frozen=True)
class MemberLine:
    """A present member on the page of a team; `name` is empty where the viewer may not read it."""

    person_id: int
    name: str
    public: bool
    captain: bool
    counts: ErrorCounts


def _work(session: Session, team_id: int | None, task_id: str = "") -> dict[int, dict[int, ErrorCounts]]:
    work: dict[int, dict[int, ErrorCounts]] = defaultdict(dict)
    for team, person, *sums in session.execute(queries.work_by_member(team_id, task_id)):
        before = work[team].get(person, ErrorCounts())
        work[team][person] = before + ErrorCounts(**dict(zip(queries.SUMS, map(int, sums), strict=True)))
    return work


def team_figures(session: Session, team: Team) -> TeamFigures:
    """Return the figures of one team, without its rank."""
    members = len(session.execute(queries.members(team.id)).all())
    return TeamFigures(team, members, _work(session, team.id).get(team.id, {}))


def rank_teams(session: Session, task_id: str = "") -> list[TeamFigures]:
    """Return all teams, by verified fooling examples; of one task, what they wrote in it.

    Teams that are equal share a rank, those with too few examples have none and stand last.
    """
    teams: Sequence[Team] = session.scalars(queries.active_teams()).all()
    if task_id:
        teams = [team for team in teams if team.task_id in (None, task_id)]
    work = _work(session, None, task_id)
    sizes: dict[int, int] = defaultdict(int)
    for team_id, _person in session.execute(queries.teammates([team.id for team in teams])):
        sizes[team_id] += 1
    lines = [TeamFigures(team, sizes[team.id], work.get(team.id, {})) for team in teams]
    lines.sort(key=lambda line: (-line.counts.validated, line.counts.with_outcome, line.team.name.casefold()))
    ranked = [line for line in lines if line.counts.with_outcome >= LEAST_EXAMPLES and line.counts.validated]
    rank, before, result = 0, None, []
    for place, line in enumerate(ranked, start=1):
        rank, before = (rank if line.counts.validated == before else place), line.counts.validated
        result.append(TeamFigures(line.team, line.members, line.by_person, rank))
    chosen = {line.team.id for line in ranked}
    return result + [line for line in lines if line.team.id not in chosen]


def member_lines(session: Session, figures: TeamFigures, viewer: Person | None) -> list[MemberLine]:
    """Return the present members; to people outside the team only those with public profiles have a name."""
    rows = session.execute(queries.members(figures.team.id)).all()
    inside = viewer is not None and any(person.id == viewer.id for _row, person in rows)
    return [
        MemberLine(
            person.id,
            person.public_name if inside or person.public_profile else "",
            person.public_profile,
            row.captain,
            figures.by_person.get(person.id, ErrorCounts()),
        )
        for row, person in rows
    ]


def table_rows(lines: Sequence[TeamFigures]) -> list[list[object]]:
    """Return the lines of the board as a table, under `HEADER`."""
    rows = []
    for line in lines:
        vmer, counts = line.rates.vmer, line.counts
        cells = (line.rank, line.team.name, line.team.task_id, line.members, counts.examples, counts.fooled)
        rows.append([*cells, counts.validated, vmer.value, vmer.low, vmer.high, vmer.n])
    return [["" if cell is None else cell for cell in row] for row in rows]

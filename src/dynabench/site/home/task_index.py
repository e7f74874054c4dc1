"""The tasks as lines of an index: what is open, how often models fail, and the best model beside people."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.benchmark.leaderboards.best_models import BoardSummary, summarize_boards
from dynabench.collection import boards
from dynabench.kit.db import now
from dynabench.kit.language import _, language_name
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState, Task, TaskVersion
from dynabench.stats.rates import UNKNOWN, ErrorCounts, Rate, error_rates, wilson
from dynabench.tasks import TaskConfig

MAX_TASKS = 1000
WEEK = timedelta(days=7)
SORTS = {"active": _("Most active"), "checks": _("Needs checks"), "name": _("A–Z")}
MODALITIES = {
    "text": _("Text"),
    "picture": _("Picture"),
    "audio": _("Audio"),
    "video": _("Video"),
    "conversation": _("Conversation"),
}
MEDIA = {
    "image": "picture",
    "image_region": "picture",
    "drawing": "picture",
    "audio": "audio",
    "video": "video",
    "chat": "conversation",
}
STATES = {"open": _("Round open"), "checks": _("Needs checks")}


@dataclass(frozen=True)
class TaskLine:
    """One task. `round` is the number of its open round; `history` has the vMER of its rounds, oldest first.

    `recent` counts the examples of the last seven days, `waiting` those of the open round that wait for votes.
    `people` is the accuracy of blind answers over all rounds.
    """

    id: str
    name: str
    description: str
    warning: bool
    trains: bool
    modalities: tuple[str, ...]
    round: int | None
    rounds: int
    targets: tuple[str, ...]
    examples: int
    recent: int
    waiting: int
    history: tuple[tuple[int, Rate], ...]
    people: Rate
    people_by_round: Mapping[int, Rate]
    board: BoardSummary
    compares: bool = False
    """Whether people compare replies, so that preferences rank the models and none is fooled."""

    @property
    def states(self) -> tuple[str, ...]:
        """Names of what can be done with it now: keys of `STATES`."""
        present = {"open": self.round is not None, "checks": self.waiting > 0}
        return tuple(name for name in STATES if present[name])

    @property
    def human(self) -> Rate:
        """People's accuracy where it compares with the board's metric."""
        return self.people if self.board.comparable else UNKNOWN

    @property
    def behind(self) -> float | None:
        """Points from the best model to people; negative where the model is ahead."""
        best, human = self.board.best, self.human.value
        return None if best is None or best.score.value is None or human is None else 100 * human - best.score.value

    def holds(self, text: str) -> bool:
        """Return whether the name, the id or the description has a text."""
        return all(word in f"{self.name} {self.id} {self.description}".casefold() for word in text.casefold().split())


def task_lines(session: Session) -> list[TaskLine]:
    """Return all tasks, the most active first.

    The number of statements does not depend on the number of tasks, but for boards that have changed.
    """
    tasks = session.scalars(round_queries.tasks("", MAX_TASKS)).all()
    ever = session.scalars(round_queries.all_started()).all()
    ids, controls = [round_.id for round_ in ever], boards.controls(ever)
    counts = {row.round_id: row for row in session.execute(boards.sums(ids, controls))}
    recent = _pairs(session.execute(boards.examples_since(ids, (now() - WEEK).date().isoformat())))
    waiting = _pairs(session.execute(boards.waiting_by_round([r.id for r in ever if r.state == RoundState.OPEN])))
    blind = {id: wilson(int(right), int(n)) for id, n, right in session.execute(boards.blind_sums(ids, controls))}
    by_task: dict[str, list[Round]] = defaultdict(list)
    for round_ in sorted(ever, key=lambda round_: round_.number):
        by_task[round_.task_id].append(round_)
    configs = _configs(session, tasks, by_task)
    summaries = summarize_boards(session, {id: version for id, (version, _config) in configs.items()})
    lines = [
        _line(id, config, by_task[id], counts, recent, waiting, blind, summaries[id])
        for id, (_version, config) in configs.items()
    ]
    return sort_lines(lines, "active")


def _pairs(rows: Iterable[Any]) -> dict[int, int]:
    return {int(id): int(count) for id, count in rows}


def _configs(
    session: Session, tasks: Sequence[Task], by_task: dict[str, list[Round]]
) -> dict[str, tuple[int, TaskConfig]]:
    """The version and config of each task that people see: the open round's, else the newest."""
    versions = {task.id: task.version_id for task in tasks if task.version_id is not None}
    versions |= {id: r.version_id for id, some in by_task.items() for r in some if r.state == RoundState.OPEN}
    sources = session.scalars(select(TaskVersion).where(TaskVersion.id.in_(versions.values())))
    configs = {version.id: rounds.config_of(session, version.id) for version in sources}
    return {id: (version, configs[version]) for id, version in versions.items()}


def _line(
    id: str,
    config: TaskConfig,
    some: Sequence[Round],
    counts: dict[int, Any],
    recent: dict[int, int],
    waiting: dict[int, int],
    blind: dict[int, Rate],
    board: BoardSummary,
) -> TaskLine:
    open_round = next((round_ for round_ in some if round_.state == RoundState.OPEN), None)
    people = [blind[round_.id] for round_ in some if round_.id in blind]
    answers, right = sum(rate.n for rate in people), sum(round((rate.value or 0) * rate.n) for rate in people)
    return TaskLine(
        id=id,
        name=config.name,
        description=config.description,
        warning=bool(config.content_warning),
        trains=config.training is not None,
        modalities=modalities(config),
        round=open_round.number if open_round else None,
        rounds=len(some),
        targets=tuple(dict.fromkeys(target.model for target in open_round.targets)) if open_round else (),
        examples=sum(int(counts[round_.id].examples) for round_ in some if round_.id in counts),
        recent=sum(recent.get(round_.id, 0) for round_ in some),
        waiting=waiting.get(open_round.id, 0) if open_round else 0,
        history=tuple((round_.number, _vmer(counts.get(round_.id))) for round_ in some),
        people=wilson(right, answers),
        people_by_round={round_.number: blind[round_.id] for round_ in some if round_.id in blind},
        board=board,
        compares=config.compares,
    )


def _vmer(row: Any) -> Rate:
    counts = {field.name: int(getattr(row, field.name)) for field in fields(ErrorCounts)} if row is not None else {}
    return error_rates(ErrorCounts(**counts)).vmer


def modalities(config: TaskConfig) -> tuple[str, ...]:
    """Return what people read and write in a task: keys of `MODALITIES`."""
    kinds = [MEDIA.get(field.type, "") for group in ("context", "input") for field in config.fields(group)]
    return tuple(dict.fromkeys(kind for kind in kinds if kind)) or ("text",)


def sort_lines(lines: Iterable[TaskLine], by: str) -> list[TaskLine]:
    """Return lines in the order of a key of `SORTS`; open rounds come before tasks where nothing can be done."""
    ordered = sorted(lines, key=lambda line: line.name.casefold())
    if by == "active":
        ordered.sort(
            key=lambda line: (line.round is None, -line.recent, -line.examples, line.board.best is None, line.warning)
        )
    elif by == "checks":
        ordered.sort(key=lambda line: (line.round is None, -line.waiting))
    return ordered


@dataclass(frozen=True)
class TaskFilter:
    """The choice of lines that an address asks for; empty where it takes all."""

    text: str = ""
    modality: str = ""
    language: str = ""
    state: str = ""

    def takes(self, line: TaskLine) -> bool:
        """Return whether the index shows the line."""
        return (
            line.holds(self.text)
            and self.modality in ("", *line.modalities)
            and self.language in ("", *line.board.languages)
            and self.state in ("", *line.states)
        )


@dataclass(frozen=True)
class Facet:
    """One value to filter by, and how many tasks have it."""

    value: str
    label: str
    tasks: int


def facets(lines: Sequence[TaskLine]) -> dict[str, list[Facet]]:
    """Return the values to filter by: those that some task has and some other lacks."""
    kinds = Counter(kind for line in lines for kind in line.modalities)
    languages = Counter(language for line in lines for language in line.board.languages)
    states = Counter(state for line in lines for state in line.states)
    groups = {
        "state": [Facet(name, label, states[name]) for name, label in STATES.items()],
        "modality": [Facet(name, label, kinds[name]) for name, label in MODALITIES.items()],
        "language": [Facet(name, language_name(name), count) for name, count in sorted(languages.items())],
    }
    return {name: chosen for name, some in groups.items() if (chosen := [f for f in some if 0 < f.tasks < len(lines)])}

"""What a turn would do, before it is asked for: counts, and how long it may take by what was measured before."""

from collections import defaultdict

from pydantic import BaseModel
from sqlalchemy.orm import Session

from dynabench.accounts.tables import Person
from dynabench.cycle import lineage, naming, queries, service, sources
from dynabench.cycle.plan import Plan
from dynabench.cycle.tables import CycleTurn
from dynabench.cycle.telling import rule_told
from dynabench.datasets.tables import DatasetVersion
from dynabench.language import _
from dynabench.people.may import Action
from dynabench.registry import submission_queries
from dynabench.releases import service as releases
from dynabench.releases.tables import ReleaseState
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.scoring import queries as scoring_queries
from dynabench.settings import Settings


class Foreseen(BaseModel):
    """What a turn would do. `examples` and `verified` are those of a round that is not released yet; `rows` those that
    earlier rounds have to train on by now. `seconds` is None where nothing like it was done before; it leaves out what
    other jobs take meanwhile.
    """

    task: str
    round: int
    closes: bool
    releases: bool
    examples: int
    verified: int
    rows: int
    ancestors: list[int]
    models: list[str]
    present: list[str]
    evaluations: int
    rule: str
    next: int
    opens: bool
    parents: list[int]
    seconds: float | None


def foresee(
    session: Session, settings: Settings, person: Person | None, task: str, plan: Plan, number: int | None = None
) -> Foreseen:
    """What a turn by this plan would do (owners); raises as `service.start` does."""
    rounds.require(session, person, Action.RUN_CYCLE, task)
    of = service.round_for(session, task, number)
    service.check(session, person, task, of, plan)
    sources.outside(session, task, plan)
    known = list(session.scalars(round_queries.rounds(task)))
    ages = lineage.generations(lineage.parents(session, task, known), of.number)
    release = releases.of_round(session, task, of.number)
    fresh = release is None or release.state != ReleaseState.READY
    examples, verified = session.execute(queries.counts(of.id)).one() if fresh else (0, 0)
    asked = CycleTurn(task_id=task, round_id=of.id, plan=plan.model_dump(mode="json"), created_at=of.created_at)
    before = sources.ancestry(session, settings, asked)
    rows, tested = _sizes(session, task, before)
    share = releases.rules_of(session, task, of.number, plan.release)
    rows_after = rows + round(verified * share.train)
    tested += round(verified * (share.test + share.hidden))
    models = [naming.model(task, of.number, each.name, seed) for each, seed in plan.runs()]
    present = [f"{each.model}@{each.version}" for each in of.targets]
    sets = len([id for each in before for id in (each.test, each.hidden) if id]) + (2 if fresh else 0)
    return Foreseen(
        task=task,
        round=of.number,
        closes=of.state == RoundState.OPEN,
        releases=fresh,
        examples=examples,
        verified=verified,
        rows=rows,
        ancestors=sorted(ages),
        models=models,
        present=present,
        evaluations=sets * len(models),
        rule=rule_told(plan.promote),
        next=(session.scalar(round_queries.last_number(task)) or 0) + 1,
        opens=plan.next.open,
        parents=sorted({of.number, *plan.next.parents}),
        seconds=_seconds(session, task, plan, of, rows_after, tested),
    )


def _sizes(session: Session, task: str, before: list[sources.Released]) -> tuple[int, int]:
    """Rows to train on and rows to test on of releases that are there."""
    train = tested = 0
    for each in before:
        release = releases.of_round(session, task, each.number)
        report = releases.report_of(release) if release else None
        train += report.parts.get("train", 0) if report else 0
        tested += sum(session.get_one(DatasetVersion, id).rows for id in (each.test, each.hidden) if id)
    return train, tested


def _seconds(session: Session, task: str, plan: Plan, of: Round, rows: int, tested: int) -> float | None:
    """How long training and evaluating may take by the pace of earlier turns and of the present targets."""
    pace: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for method, count, seconds in session.execute(queries.trained(task)):
        pace[method][0] += seconds or 0.0
        pace[method][1] += count or 0
    if any(not pace[each.method][1] for each, _seed in plan.runs()):
        return None
    training = sum(rows * pace[each.method][0] / pace[each.method][1] for each, _seed in plan.runs())
    return round(training + len(plan.runs()) * tested * _slowest(session, task, of), 1)


def _slowest(session: Session, task: str, of: Round) -> float:
    """Seconds that the slowest present target took for a row; 0 where none was evaluated yet."""
    found = [0.0]
    for each in of.targets:
        known = session.scalar(submission_queries.twin(task, each.model, each.version))
        answered, seconds = session.execute(scoring_queries.speed(known.id)).one() if known else (0, 0.0)
        if answered and seconds:
            found.append(seconds / answered)
    return max(found)


def told(of: Foreseen) -> list[str]:
    """The same in sentences."""
    said = []
    if of.closes:
        said.append(_("Round %(round)s is closed.", round=of.round))
    if of.releases:
        said.append(_("Round %(round)s is released: %(examples)s examples, %(verified)s of them verified.",
                      round=of.round, examples=f"{of.examples:,}", verified=f"{of.verified:,}"))  # fmt: skip
    ancestors = ", ".join(map(str, of.ancestors))
    said.append(_("Trained on rounds %(ancestors)s: %(models)s.", ancestors=ancestors, models=", ".join(of.models)))
    said.append(_("They are evaluated on all rounds (%(count)s evaluations) and compared with %(present)s by the rule "
                  "“%(rule)s”.", count=of.evaluations, present=", ".join(of.present), rule=of.rule))  # fmt: skip
    opened = _("opened") if of.opens else _("drafted")
    said.append(_("Round %(next)s, which follows %(parents)s, is %(opened)s with the models that win, or with those of "
                  "now.", next=of.next, parents=", ".join(map(str, of.parents)), opened=opened))  # fmt: skip
    if of.seconds is None:
        said.append(_("How long it takes is not known: nothing was trained for this task in these ways before."))
    else:
        said.append(_("By the pace of earlier turns it takes %(time)s.", time=duration(of.seconds)))
    return said


def duration(seconds: float) -> str:
    """Seconds for people."""
    if seconds < 90:
        return _("%(n)s seconds", n=f"{seconds:.0f}")
    return (
        _("%(n)s minutes", n=f"{seconds / 60:.0f}") if seconds < 5400 else _("%(n)s hours", n=f"{seconds / 3600:.1f}")
    )

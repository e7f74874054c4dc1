"""Preview a turn before it is started: counts, and its duration as estimated from earlier turns."""

from collections import defaultdict

from pydantic import BaseModel
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries as scoring_queries
from dynabench.benchmark.registry import queries as submission_queries
from dynabench.benchmark.releases import service as releases
from dynabench.benchmark.releases.tables import ReleaseState
from dynabench.cycle import candidate_names, lineage, queries, service, training_sources
from dynabench.cycle.plan import TurnPlan
from dynabench.cycle.report_text import rule_text
from dynabench.cycle.tables import CycleTurn
from dynabench.datasets.tables import DatasetVersion
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState


class Foreseen(BaseModel):
    """The effects that a turn would have.

    `examples` and `verified` count those of a round that is not released yet; `rows` the training rows that the
    releases of earlier rounds hold now. `seconds` is the estimated time of training and evaluation without
    waiting for other jobs; None where no comparable training was done before.
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


def preview_turn(
    session: Session, settings: Settings, person: Person | None, task: str, plan: TurnPlan, number: int | None = None
) -> Foreseen:
    """Return the effects that a turn by this plan would have (owners); raises as `service.start_turn` does."""
    rounds.require(session, person, Action.RUN_CYCLE, task)
    round_ = service.starting_round(session, task, number)
    service.check_plan(session, person, task, round_, plan)
    training_sources.outside_datasets(session, task, plan)
    task_rounds = list(session.scalars(round_queries.rounds(task)))
    ages = lineage.generations(lineage.parent_numbers(session, task, task_rounds), round_.number)
    release = releases.release_of_round(session, task, round_.number)
    fresh = release is None or release.state != ReleaseState.READY
    examples, verified = session.execute(queries.example_counts(round_.id)).one() if fresh else (0, 0)
    planned_turn = CycleTurn(
        task_id=task, round_id=round_.id, plan=plan.model_dump(mode="json"), created_at=round_.created_at
    )
    before = training_sources.ancestor_releases(session, settings, planned_turn)
    rows, tested = _sizes(session, task, before)
    share = releases.release_rules(session, task, round_.number, plan.release)
    rows_after = rows + round(verified * share.train)
    tested += round(verified * (share.test + share.hidden))
    models = [candidate_names.model_name(task, round_.number, item.name, seed) for item, seed in plan.runs()]
    present = [f"{item.model}@{item.version}" for item in round_.targets]
    sets = len([id for item in before for id in (item.test, item.hidden) if id]) + (2 if fresh else 0)
    return Foreseen(
        task=task,
        round=round_.number,
        closes=round_.state == RoundState.OPEN,
        releases=fresh,
        examples=examples,
        verified=verified,
        rows=rows,
        ancestors=sorted(ages),
        models=models,
        present=present,
        evaluations=sets * len(models),
        rule=rule_text(plan.promote),
        next=(session.scalar(round_queries.last_number(task)) or 0) + 1,
        opens=plan.next.open,
        parents=sorted({round_.number, *plan.next.parents}),
        seconds=_seconds(session, task, plan, round_, rows_after, tested),
    )


def _sizes(session: Session, task: str, before: list[training_sources.RoundRelease]) -> tuple[int, int]:
    train = tested = 0
    for ancestor in before:
        release = releases.release_of_round(session, task, ancestor.number)
        report = releases.release_report(release) if release else None
        train += report.parts.get("train", 0) if report else 0
        tested += sum(session.get_one(DatasetVersion, id).rows for id in (ancestor.test, ancestor.hidden) if id)
    return train, tested


def _seconds(session: Session, task: str, plan: TurnPlan, round_: Round, rows: int, tested: int) -> float | None:
    """Estimated seconds of training and evaluation, by the pace of earlier turns and of the present targets."""
    pace: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for method, count, seconds in session.execute(queries.trained_candidates(task)):
        pace[method][0] += seconds or 0.0
        pace[method][1] += count or 0
    if any(not pace[candidate.method][1] for candidate, _seed in plan.runs()):
        return None
    training = sum(rows * pace[candidate.method][0] / pace[candidate.method][1] for candidate, _seed in plan.runs())
    return round(training + len(plan.runs()) * tested * _slowest(session, task, round_), 1)


def _slowest(session: Session, task: str, round_: Round) -> float:
    """Seconds that the slowest present target took for a row; 0 where none was evaluated yet."""
    paces = [0.0]
    for target in round_.targets:
        submission = session.scalar(submission_queries.submission_of_model(task, target.model, target.version))
        answered, seconds = (
            session.execute(scoring_queries.answering_speed(submission.id)).one() if submission else (0, 0.0)
        )
        if answered and seconds:
            paces.append(seconds / answered)
    return max(paces)


def preview_sentences(preview: Foreseen) -> list[str]:
    """Return the preview as translated sentences."""
    sentences = []
    if preview.closes:
        sentences.append(_("Round %(round)s is closed.", round=preview.round))
    if preview.releases:
        sentences.append(
            _(
                "Round %(round)s is released: %(examples)s examples, %(verified)s of them verified.",
                round=preview.round,
                examples=f"{preview.examples:,}",
                verified=f"{preview.verified:,}",
            )
        )
    ancestors = ", ".join(map(str, preview.ancestors))
    sentences.append(
        _("Trained on rounds %(ancestors)s: %(models)s.", ancestors=ancestors, models=", ".join(preview.models))
    )
    sentences.append(
        _(
            "They are evaluated on all rounds (%(count)s evaluations) and compared with %(present)s by the rule "
            "“%(rule)s”.",
            count=preview.evaluations,
            present=", ".join(preview.present),
            rule=preview.rule,
        )
    )
    opened = _("opened") if preview.opens else _("drafted")
    sentences.append(
        _(
            "Round %(next)s, which follows %(parents)s, is %(opened)s with the models that win, or with those of now.",
            next=preview.next,
            parents=", ".join(map(str, preview.parents)),
            opened=opened,
        )
    )
    if preview.seconds is None:
        sentences.append(_("How long it takes is not known: nothing was trained for this task in these ways before."))
    else:
        sentences.append(_("By the pace of earlier turns it takes %(time)s.", time=duration_text(preview.seconds)))
    return sentences


def duration_text(seconds: float) -> str:
    """Return a translated duration in seconds, minutes or hours."""
    if seconds < 90:
        return _("%(n)s seconds", n=f"{seconds:.0f}")
    return (
        _("%(n)s minutes", n=f"{seconds / 60:.0f}") if seconds < 5400 else _("%(n)s hours", n=f"{seconds / 3600:.1f}")
    )

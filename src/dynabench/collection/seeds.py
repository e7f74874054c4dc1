"""Seeds: texts that annotators start from, supplied by owners or taken from earlier verified examples."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, insert, select, update
from sqlalchemy.orm import Session

from dynabench.collection import queries
from dynabench.collection.handout_tables import Seed, SeedPrediction
from dynabench.collection.queries import concealed
from dynabench.collection.schemas import SeedIn
from dynabench.collection.tables import Example, Standing
from dynabench.intake import reader
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.media import service as media
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import contexts
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.contexts import ContextRow, UploadResult
from dynabench.rounds.samplers import in_languages
from dynabench.rounds.tables import Context, Task
from dynabench.stats.verdict import Verdict
from dynabench.tasks import TaskConfig

if TYPE_CHECKING:
    from dynabench.collection import targets
    from dynabench.collection.drafts import Draft


PAGE = 500
MARKS_AT_ONCE = 200
"""Marks of earlier rounds that one draw takes back."""


@dataclass(frozen=True)
class SeedRow:
    """One seed to store: its number in the file or list (from 1), and why it could not be read.

    `context` holds the context's values, or is empty: then the task has no context, or only texts to begin with, which
    the seed's own text stands for. `answer` is what is known of it, or None.
    """

    number: int
    context: Any
    input: Any
    answer: Any = None
    tag: Any = ""
    error: str = ""


def rows(seeds: Iterable[SeedIn | dict[str, Any]]) -> list[SeedRow]:
    """Seeds as programs, files and shipped tasks give them."""
    plain = [seed.model_dump() if isinstance(seed, SeedIn) else seed for seed in seeds]
    return [
        SeedRow(number, seed.get("context"), seed.get("input"), seed.get("answer"), seed.get("tag", ""))
        for number, seed in enumerate(plain, start=1)
    ]


def seed_row(row: FileRow) -> SeedRow:
    """Return a row of a file as a seed: `{"context", "input", "answer", "tag"}`, or the input's fields themselves."""
    if row.values is None:
        return SeedRow(row.number, {}, {}, error=row.error)
    values = dict(row.values)
    tag = values.pop("tag", "")
    if not isinstance(values.get("input"), dict):
        return SeedRow(row.number, {}, values, tag=tag)
    if extra := values.keys() - {"context", "input", "answer"}:
        return SeedRow(
            row.number, {}, {}, error=_("There is no such key: %(value)s.", value=", ".join(sorted(extra)[:5]))
        )
    return SeedRow(row.number, values.get("context"), values["input"], values.get("answer"), tag)


def add(session: Session, task_id: str, config: TaskConfig, rows: Sequence[SeedRow]) -> UploadResult:
    """Store the good ones of some rows with their contexts; bad rows are named, known ones counted.

    A context that the task lacks becomes one of its contexts.
    """
    session.get(Task, task_id, with_for_update=True)  # two uploads of one task take turns, so digests stay unique
    result = UploadResult()
    good: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for row in rows:
        try:
            context, seed = _clean(session, task_id, config, row)
        except errors.Invalid as problem:
            result.errors.append((row.number, problem.detail))
            continue
        key = contexts.content_digest({"context": context, "input": seed["input"]})
        result.duplicates += key in good
        good.setdefault(key, (context, seed))
    context_ids = _contexts(session, task_id, config, [context for context, _ in good.values()])
    seed_rows = [
        {"digest": key, "context_id": context_ids[contexts.content_digest(context)], "made_from": None, **seed}
        for key, (context, seed) in good.items()
    ]
    for seed_row in seed_rows:  # who may be given the seed sees its files
        media.bind_media(session, task_id, seed_row["input"], context_id=seed_row["context_id"])
    result.created = _store(session, task_id, seed_rows)
    result.duplicates += len(seed_rows) - result.created
    return result


def _clean(session: Session, task_id: str, config: TaskConfig, row: SeedRow) -> tuple[dict[str, Any], dict[str, Any]]:
    if row.error:
        raise errors.Invalid({"row": row.error}, row.error)
    tag = "" if row.tag is None else row.tag
    if not isinstance(tag, str) or len(tag) > 100 or not tag.isprintable():
        raise errors.Invalid({"tag": _("Give up to 100 printable characters.")})
    raw = row.input if isinstance(row.input, dict) else {}
    context_values = row.context or {source: raw.get(field) for field, source in config.start.prompt.items()}
    context = config.clean_context(media.fill_media_values(session, task_id, config.context, "context", context_values))
    written = config.clean_input(media.fill_media_values(session, task_id, config.input, "input", row.input), context)
    answer = None if not row.answer else config.clean_answer(row.answer, context=context, input=written)
    return context, {"input": written, "answer": answer, "tag": tag}


def _contexts(session: Session, task_id: str, config: TaskConfig, values: list[dict[str, Any]]) -> dict[str, int]:
    contexts.add_contexts(
        session, task_id, config, [ContextRow(number, context) for number, context in enumerate(values, start=1)]
    )
    digests = list({contexts.content_digest(context) for context in values})
    return {row.digest: row.id for row in session.execute(contexts_by_digest(task_id, digests))}


def _store(session: Session, task_id: str, seed_rows: list[dict[str, Any]]) -> int:
    stored_digests = set(session.scalars(known_seeds(task_id, [row["digest"] for row in seed_rows])))
    new = [
        {"task_id": task_id, "draw": random.randint(0, round_queries.KEYS), **row}
        for row in seed_rows
        if row["digest"] not in stored_digests
    ]
    if new:
        session.execute(insert(Seed), new)
    return len(new)


def upload(db: Database, task_id: str, file: Path) -> UploadResult:
    """Store a file's seeds, a batch per transaction; lines are counted from 1. `Invalid` for a file of another kind."""
    config = db.read(rounds.newest_config, task_id)
    result = UploadResult()
    for batch in contexts.split_batches(map(seed_row, reader.read_rows(file))):
        result += db.write(add, task_id, config, batch)
    db.write(rounds.record_act, None, "seeds.uploaded", task=task_id, created=result.created)
    return result


def from_round(
    session: Session, actor: Person | None, task_id: str, number: int, verdict: str = Verdict.CORRECT
) -> int:
    """Make seeds of a round's examples with this verdict, concealed ones left out; how many are new (owners)."""
    rounds.require(session, actor, Action.MANAGE_CONTEXTS, task_id)
    if verdict not in set(Verdict):
        raise errors.Invalid({"verdict": _("Choose one of %(verdict)s.", verdict=", ".join(Verdict))})
    round = rounds.round_of(session, task_id, number)
    session.get(Task, task_id, with_for_update=True)
    created, after = 0, 0
    while page := session.execute(seedlings(round.id, str(verdict), after, PAGE)).all():
        after = page[-1][0].id
        unique = {row["digest"]: row for row in (_row(example, context) for example, context in page)}
        created += _store(session, task_id, list(unique.values()))
        session.flush()
    rounds.record_act(session, actor, "seeds.made", task=task_id, round=number, verdict=str(verdict), created=created)
    return created


def _row(example: Example, context: Context) -> dict[str, Any]:
    return {
        "digest": contexts.content_digest({"context": context.values, "input": example.input}),
        "context_id": context.id,
        "made_from": example.id,
        "input": example.input,
        "answer": example.answer,
        "tag": context.tag,
    }


def pick(
    session: Session,
    task_id: str,
    rng: random.Random,
    but: int = 0,
    languages: Sequence[str] = (),
    *,
    round_id: int = 0,
    passed: Sequence[int] = (),
) -> Seed | None:
    """A seed with the fewest examples, other than `but` where there is another; None where the task has none.

    Seeds whose example was taken back, hidden or withheld by a release since are passed over, and where `languages`
    are given, those on contexts in others; also those of `passed`, and those that fool the targets of round `round_id`.
    """
    draw = rng.randint(0, round_queries.KEYS)
    level = session.scalar(least_seeded(task_id)) or 0
    for probe in (*seed_probes(task_id, level, draw, but), *older_mark_probes(task_id, round_id, but)):
        if languages:
            probe = probe.join(Context, Context.id == Seed.context_id).where(in_languages(languages))
        if seed := session.scalar(probe.where(Seed.id.not_in(passed)) if passed else probe):
            return seed
    if not but or but in passed:
        return None
    seed = session.scalar(seed_of_task(task_id, but))
    return seed if seed is None or not round_id or seed.fooled_round != round_id else None


def remove_older_marks(session: Session, task_id: str, round_id: int) -> None:
    """Take some seeds back into the draw that are marked as fooling another round than `round_id`.

    Few at once, so that no draw waits; one index probe where there are none.
    """
    for marks in older_marks(task_id, round_id):
        query = marks.with_only_columns(Seed.id).limit(MARKS_AT_ONCE).with_for_update(skip_locked=True)
        if ids := session.scalars(query).all():
            session.execute(
                update(Seed).where(Seed.id.in_(ids)).values(fooled_round=0),
                execution_options={"synchronize_session": False},
            )


def recorded(session: Session, draft: "Draft", verdict: "targets.TargetVerdict", example_id: int) -> None:
    """Count that an example was made from the seed of its handout."""
    if draft.handout is not None:
        session.connection().execute(queries.SEED_USED, {"seed": draft.handout.seed_id})


def seed_of_task(task_id: str, seed_id: int) -> Select[Seed]:
    """A seed that may be handed out: one index probe, and one for the example that it was taken from."""
    return select(Seed).where(Seed.id == seed_id, Seed.task_id == task_id, ~concealed(Seed.made_from.expression))


def least_seeded(task_id: str) -> Select[int]:
    """The fewest examples that a seed of the task has, of those that fool no round: one index probe."""
    query = select(Seed.used).where(Seed.task_id == task_id, Seed.fooled_round == 0)
    return query.order_by(Seed.used, Seed.draw).limit(1)


def seed_probes(task_id: str, level: int, draw: int, but: int) -> Iterator[Select[Seed]]:
    """The least used seed, ties broken by the random key nearest above `draw`; `level` is the lowest use.

    At most three index probes, longer only over seeds whose examples are concealed. Seeds that are marked as fooling
    stand in another part of the index, however many they are.
    """
    free = (Seed.task_id == task_id, Seed.fooled_round == 0)
    base = select(Seed).where(*free, Seed.id != but, ~concealed(Seed.made_from.expression)).limit(1)
    yield base.where(Seed.used == level, Seed.draw >= draw).order_by(Seed.draw)
    yield base.where(Seed.used == level, Seed.draw < draw).order_by(Seed.draw)
    yield base.where(Seed.used > level).order_by(Seed.used, Seed.draw)


def older_marks(task_id: str, round_id: int) -> Iterator[Select[Seed]]:
    """Select the seeds that are marked as fooling another round than `round_id` (0: any): ranges of an index."""
    base = select(Seed).where(Seed.task_id == task_id).order_by(Seed.fooled_round, Seed.used, Seed.draw)
    if round_id:
        yield base.where(Seed.fooled_round > 0, Seed.fooled_round < round_id)
    yield base.where(Seed.fooled_round > round_id)


def older_mark_probes(task_id: str, round_id: int, but: int) -> Iterator[Select[Seed]]:
    """A seed whose mark of another round was not taken back yet, where there are no others: two index probes."""
    for marks in older_marks(task_id, round_id):
        yield marks.where(Seed.id != but, ~concealed(Seed.made_from.expression)).limit(1)


def seed_predictions(seed_id: int) -> Select[SeedPrediction]:
    """Select the models' answers to a seed: one range of the primary key."""
    return select(SeedPrediction).where(SeedPrediction.seed_id == seed_id)


def known_seeds(task_id: str, digests: Sequence[str]) -> Select[str]:
    """Select those of `digests` that are seeds of the task already: one index probe each."""
    return select(Seed.digest).where(Seed.task_id == task_id, Seed.digest.in_(digests))


def contexts_by_digest(task_id: str, digests: Sequence[str]) -> Select[str, int]:
    """Digests and ids of a task's contexts: one index probe each."""
    return select(Context.digest, Context.id).where(Context.task_id == task_id, Context.digest.in_(digests))


def seedlings(round_id: int, verdict: str, after: int, limit: int) -> Select[Example, Context]:
    """A round's examples above id `after` that have this verdict and are not concealed: walks an index range."""
    return (
        select(Example, Context)
        .join(Standing, Standing.example_id == Example.id)
        .join(Context, Context.id == Example.context_id)
        .where(Example.round_id == round_id, Example.id > after)
        .where(Standing.verdict == verdict, disclosure.shown_examples(Standing))
        .order_by(Example.id)
        .limit(limit)
    )

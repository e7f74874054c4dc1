"""Every `select` over handouts and examples, with its cost; see `seed_queries` and `board_queries` for the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Executable,
    Integer,
    Select,
    Table,
    and_,
    bindparam,
    case,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased, lazyload, selectinload

from dynabench.collection.handout_tables import Handout, Seed
from dynabench.collection.tables import (
    Example,
    ExampleChange,
    ExampleSource,
    Explanation,
    Prediction,
    Proposed,
    Retraction,
    Standing,
    StoredAttribution,
    Tally,
)
from dynabench.collection.writing_facts import WritingFacts
from dynabench.kit.db import PreparedStatement
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Ban, Role
from dynabench.rounds import queries as round_queries
from dynabench.rounds.samplers import FADES
from dynabench.rounds.tables import Context, Round, RoundState, Task

_LATEST = select(func.max(Handout.id)).where(
    Handout.person_id == bindparam("person", type_=BigInteger), Handout.round_id == bindparam("round", type_=BigInteger)
)
CURRENT_HANDOUT: Select[Handout] = select(Handout).where(Handout.id == _LATEST.scalar_subquery())
"""What a person was given last in a round: reads the index entries of their handouts there. Put together once."""


def handout(person_id: int, round_id: int, context_id: int) -> Select[Handout]:
    """The latest time that a person was given a context: one index probe."""
    return (
        select(Handout)
        .where(Handout.person_id == person_id, Handout.round_id == round_id, Handout.context_id == context_id)
        .order_by(Handout.id.desc())
        .limit(1)
    )


def withdrawn(example_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that the example was retracted or hidden: one index probe."""
    gone = or_(Standing.retracted, Standing.hidden)
    return exists().where(Standing.example_id == example_id, gone)


def concealed(example_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Tell whether only the author may see the example: withdrawn, or withheld by a release. One index probe."""
    return exists().where(Standing.example_id == example_id, ~disclosure.shown_examples(Standing))


def _on(person_id: int, round_id: int, context_id: int) -> ColumnElement[bool]:
    handout_ids = select(Handout.id).where(
        Handout.person_id == person_id, Handout.round_id == round_id, Handout.context_id == context_id
    )
    return and_(Example.handout_id.in_(handout_ids), ~_retracted())


def tries(person_id: int, round_id: int, context_id: int) -> Select[Example]:
    """A person's examples on a context in a round, retracted ones left out, oldest first: index probes per handout."""
    mine = select(Example).where(_on(person_id, round_id, context_id))
    return mine.order_by(Example.id).options(selectinload(Example.predictions))


def written(person_id: int, round_id: int, context_id: int) -> Select[int, dict[str, Any], dict[str, Any]]:
    """Id, input and answer of the same examples, without their predictions: what repetition is judged by."""
    return select(Example.id, Example.input, Example.answer).where(_on(person_id, round_id, context_id))


def draws(person_id: int, round_id: int) -> Select[int]:
    """Select the number of contexts that a person was handed out in a round.

    The person's own examples to perturb do not count. One index range.
    """
    mine = (Handout.person_id == person_id, Handout.round_id == round_id)
    return select(func.count()).select_from(Handout).where(*mine, Handout.start != "perturb")


def _retracted() -> ColumnElement[bool]:
    return select(Retraction.example_id).where(Retraction.example_id == Example.id).exists()


def attempts(handout_id: int) -> Select[int]:
    """Select the number of examples written on a hand-out.

    One index range, which is short: annotators make few tries on one hand-out.
    """
    return select(func.count()).select_from(Example).where(Example.handout_id == handout_id)


def by_key(person_id: int, key: str) -> Select[Example]:
    """The example that an idempotency key stands for: one index probe, and one for its predictions."""
    return (
        select(Example)
        .where(Example.author_id == person_id, Example.key == key)
        .options(selectinload(Example.predictions))
    )


def example(example_id: int) -> Select[Example]:
    """One example with its predictions: two index probes."""
    return select(Example).where(Example.id == example_id).options(selectinload(Example.predictions))


def explanation(example_id: int) -> Select[Explanation]:
    """The latest explanation of an example, or draft of one: one index probe."""
    return select(Explanation).where(Explanation.example_id == example_id).order_by(Explanation.id.desc()).limit(1)


def examples(task_id: str, author_id: int | None, before: int, limit: int) -> Select[Example]:
    """Examples of a task (of one author where given) below id `before`, newest first: walks the primary key down.

    Hidden ones are there for their author alone.
    """
    query = (
        select(Example)
        .join(Round, Round.id == Example.round_id)
        .where(Round.task_id == task_id)
        .order_by(Example.id.desc())
        .limit(limit)
        .options(selectinload(Example.predictions))
    )
    if before:
        query = query.where(Example.id < before)
    if author_id is not None:
        return query.where(Example.author_id == author_id)
    return query.where(~exists().where(Standing.example_id == Example.id, disclosure.hidden_or_withheld(Standing)))


def attribution(example_id: int, model: str, method: str, label: str) -> Select[StoredAttribution]:
    """A stored attribution: one index probe."""
    return select(StoredAttribution).where(
        StoredAttribution.example_id == example_id,
        StoredAttribution.model == model,
        StoredAttribution.method == method,
        StoredAttribution.label == label,
    )


def marked(round_id: int, model: str, limit: int) -> Select[Explanation, StoredAttribution]:
    """Select the last explanations by authors of a round, each with an attribution of `model`.

    The attribution is by the method that was asked for first. The newest `limit`, with index probes for
    each.
    """
    later, earlier = aliased(Explanation), aliased(StoredAttribution)
    last = ~exists().where(later.example_id == Explanation.example_id, later.id > Explanation.id, later.complete)
    first = ~exists().where(
        earlier.example_id == StoredAttribution.example_id,
        earlier.model == StoredAttribution.model,
        earlier.id < StoredAttribution.id,
    )
    return (
        select(Explanation, StoredAttribution)
        .join(Example, Example.id == Explanation.example_id)
        .join(StoredAttribution, StoredAttribution.example_id == Example.id)
        .where(Example.round_id == round_id, Explanation.complete, StoredAttribution.model == model, last, first)
        .where(~withdrawn(Example.id.expression))
        .order_by(Explanation.id.desc())
        .limit(limit)
    )


def tried(person_id: int, round_id: int, context_id: int, limit: int) -> Select[Example, Standing]:
    """A person's latest examples on a context with where they stand, newest first: index probes per handout."""
    handout_ids = select(Handout.id).where(
        Handout.person_id == person_id, Handout.round_id == round_id, Handout.context_id == context_id
    )
    return (
        select(Example, Standing)
        .join(Standing, Standing.example_id == Example.id)
        .where(Example.handout_id.in_(handout_ids))
        .order_by(Example.id.desc())
        .limit(limit)
    )


def seen(ids: Sequence[int]) -> Select[Example, Standing, Round, Context, Person]:
    """Examples with what lists show of them: index probes for each, and one statement for all predictions."""
    return (
        select(Example, Standing, Round, Context, Person)
        .join(Standing, Standing.example_id == Example.id)
        .join(Round, Round.id == Example.round_id)
        .join(Context, Context.id == Example.context_id)
        .join(Person, Person.id == Example.author_id)
        .where(Example.id.in_(ids))
        .options(selectinload(Example.predictions), lazyload(Round.targets))
    )


def explanations(ids: Sequence[int]) -> Select[Explanation]:
    """The latest complete explanation of each of some examples: index probes for each."""
    complete = select(func.max(Explanation.id)).where(Explanation.example_id.in_(ids), Explanation.complete)
    newest = complete.group_by(Explanation.example_id)
    return select(Explanation).where(Explanation.id.in_(newest))


def called(name: str, *, usernames: bool) -> Select[int]:
    """Ids of people that boards show under a name, or that log in with it: index probes."""
    has_name = or_(func.lower(Person.pseudonym) == name.lower(), (func.lower(Person.username) == name.lower()))
    people = select(Person.id).where(has_name)
    return (
        people if usernames else people.where(or_(Person.pseudonym == "", func.lower(Person.pseudonym) == name.lower()))
    )


def proposed(ids: Sequence[int]) -> Select[Proposed]:
    """Select the stored facts about the programs that wrote some examples: index probes."""
    return select(Proposed).where(Proposed.example_id.in_(ids))


def made_from(example_id: int, limit: int = 50) -> Select[int]:
    """Ids of examples that were made from another one: an index range."""
    return select(Example.id).where(Example.made_from == example_id).order_by(Example.id).limit(limit)


def attributions_of(example_id: int) -> Select[StoredAttribution]:
    """All that was kept of what models looked at in an example: one index range."""
    return select(StoredAttribution).where(StoredAttribution.example_id == example_id).order_by(StoredAttribution.id)


def verified(person_id: int, task_id: str) -> Select[int]:
    """Select the number of a person's examples of a task that fooled and were found correct.

    Examples by the person's programs do not count. One range of the tallies per round.
    """
    total = select(func.sum(Tally.validated)).join(Round, Round.id == Tally.round_id)
    return total.where(Round.task_id == task_id, Tally.person_id == person_id, Tally.source != ExampleSource.PROGRAM)


_PERSON = bindparam("person", type_=BigInteger)


def _latest() -> Any:
    mine = (Handout.person_id == _PERSON, Handout.round_id == Round.id)
    latest = select(func.max(Handout.id)).where(*mine, Handout.context_id == bindparam("context", type_=BigInteger))
    return latest.correlate(Round).scalar_subquery()


def _draft_handout() -> Select[Any]:
    """Return the statement that reads what a draft is checked against: one row for a task that exists.

    The row holds the task's open round and whether it pays, the hand-out (`handout`, or the latest of `context`
    where that is 0), the context, the person's role in the task and whether they are banned. A handful of index probes.
    """
    handout_id = bindparam("handout", type_=BigInteger)
    context = bindparam("context", type_=BigInteger)
    role = select(Role.role).where(Role.task_id == Task.id, Role.person_id == _PERSON).scalar_subquery()
    banned = select(Ban.reason).where(Ban.task_id == Task.id, Ban.person_id == _PERSON).scalar_subquery()
    columns: list[Any] = [
        Task.id.label("task_id"),
        Round.id,
        Round.number,
        Round.version_id,
        Round.fooled_when,
        Round.arms,
        Round.plan,
        Round.competition,
    ]
    names = ("id", "goal", "start", "initial", "arm", "seed_id", "made_from", "at")
    columns += [getattr(Handout, name).label(f"handout_{name}") for name in names]
    columns += [Context.id.label("context_id"), Context.values.label("context"), Context.tag]
    chosen = case((handout_id == 0, _latest()), else_=handout_id)
    mine = (Handout.person_id == _PERSON) & (Handout.round_id == Round.id) & (Handout.context_id == context)
    return (
        select(*columns, role.label("role"), banned.label("banned"), round_queries.PAYS.label("pays"))
        .select_from(Task)
        .outerjoin(Round, (Round.task_id == Task.id) & (Round.state == RoundState.OPEN))
        .outerjoin(Handout, (Handout.id == chosen) & mine)
        .outerjoin(Context, (Context.id == context) & (Context.task_id == Task.id))
        .where(Task.id == bindparam("task"))
    )


def _tries() -> CompoundSelect[Any]:
    """Return the statement that reads a person's examples on a context in a round, and one more.

    That one is the example that an idempotency key of the person stands for. `gone` marks the retracted
    ones. Index probes per hand-out, and one for the key.
    """
    round_id, context = bindparam("round", type_=BigInteger), bindparam("context", type_=BigInteger)
    handout_ids = select(Handout.id).where(
        Handout.person_id == _PERSON, Handout.round_id == round_id, Handout.context_id == context
    )
    gone = select(Retraction.example_id).where(Retraction.example_id == Example.id).exists()
    columns = (Example.id, Example.handout_id, Example.input, Example.answer, Example.request, gone.label("gone"))
    same = (Example.author_id == _PERSON) & (Example.key == bindparam("key"))
    here = select(*columns, literal(False).label("same_key")).where(Example.handout_id.in_(handout_ids))
    return union_all(here, select(*columns, literal(True).label("same_key")).where(same))


DRAFT_HANDOUT, TRIES = PreparedStatement(_draft_handout()), PreparedStatement(_tries())

ROUND_LOCK = PreparedStatement(
    select(Round.state, Round.plan).where(Round.id == bindparam("round")).with_for_update(read=True)
)
"""State and plan of a round, which is locked for sharing: one that closes waits for this example, or this for it."""

HANDOUT_LOCK = PreparedStatement(select(Handout.id).where(Handout.id == bindparam("handout")).with_for_update())
"""A handout, so that tries on it come one at a time: they are numbered."""


def _table(entity: type[Any]) -> Table:
    return cast(Table, entity.__table__)


def _columns(entity: type[Any]) -> list[str]:
    return [column.name for column in _table(entity).c if column.name != "id"]


def _new_example(dialect: str) -> Executable:
    write = (postgresql if dialect == "postgresql" else sqlite).insert(_table(Example))
    statement: Executable = write.on_conflict_do_nothing(index_elements=["author_id", "key"]).returning(
        _table(Example).c.id
    )
    return statement


NEW_EXAMPLE = PreparedStatement(_new_example, _columns(Example))
"""Write an example; no id comes back where its author's key was used meanwhile."""
NEW_PREDICTION = PreparedStatement(insert(_table(Prediction)).inline(), _columns(Prediction))
NEW_STANDING = PreparedStatement(insert(_table(Standing)).inline(), _columns(Standing))
NEW_CHANGE = PreparedStatement(insert(_table(ExampleChange)).inline(), _columns(ExampleChange))
NEW_FACTS = PreparedStatement(insert(_table(WritingFacts)).inline(), _columns(WritingFacts))


def _context_used() -> Executable:
    doubt = func.coalesce(bindparam("doubt", type_=Integer), Context.doubt)
    columns: dict[str, Any] = {
        "used": Context.used + 1,
        "fooled": Context.fooled + bindparam("and_fooled", type_=BigInteger),
        "good": Context.good + bindparam("and_fooled", type_=BigInteger),
        "doubt": ((FADES - 1) * Context.doubt + doubt) // FADES,
    }
    return update(_table(Context)).where(Context.id == bindparam("context")).values(columns)


CONTEXT_USED = PreparedStatement(_context_used())
"""One more example on a context, which may have fooled; `doubt` is that of the targets, None where they tell none."""

CONTEXT_JUDGED = (
    update(_table(Context))
    .where(Context.id == bindparam("context"))
    .values(good=Context.good + bindparam("and_good"), failed=Context.failed + bindparam("and_failed"))
)
SEED_USED = update(_table(Seed)).where(Seed.id == bindparam("seed")).values(used=Seed.used + 1)


@dataclass(frozen=True)
class Place:
    """An example's task, its round's number and arms, its context's values and tag."""

    task_id: str
    round: int
    arms: list[Any]
    context: dict[str, Any]
    tag: str


def place_of(session: Session, example: Example) -> Place:
    """The place of a stored example: two probes of primary keys."""
    round, context = session.get_one(Round, example.round_id), session.get_one(Context, example.context_id)
    return Place(round.task_id, round.number, round.arms, context.values, context.tag)

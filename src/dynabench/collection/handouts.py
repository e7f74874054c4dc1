"""Hand-outs: a context with an arm, a goal and a start.

The server draws them all and records them.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection import eligibility, queries, seed_screening, seeds
from dynabench.collection.handout_tables import Handout, Seed
from dynabench.collection.schemas import HandoutOut, SeedOut, StartAnswerOut
from dynabench.collection.seed_screening import Screening
from dynabench.collection.tables import Example, Standing
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds import contexts, people, plan, planning
from dynabench.rounds import service as rounds
from dynabench.rounds.queries import KEYS
from dynabench.rounds.tables import Context, Round, RoundState
from dynabench.tasks import TaskConfig
from dynabench.tasks.assistant_sections import assisted_field

NO_LINK: Mapping[str, str] = {}


@dataclass(frozen=True)
class Offer:
    """A handout as people see it, and the targets of its arm that have yet to be asked about its seed.

    `screening` decides whether the seed fools the models already, so that another one is drawn; None too where an
    example was written on it, which stays with its seed.
    """

    handout: HandoutOut
    seed_id: int = 0
    inputs: dict[str, Any] | None = None
    missing: tuple[plan.Target, ...] = ()
    screening: Screening | None = None


def hand_out(
    session: Session,
    person: Person | None,
    task_id: str,
    rng: random.Random,
    but: int = 0,
    link: Mapping[str, str] = NO_LINK,
    passed: Sequence[int] = (),
    seedless: bool = False,
) -> Offer:
    """Another context, with an arm, a goal and a start drawn at random; what a member was given is recorded.

    `link` are the parameters of the address by which a member came; without one, they still come by the last.

    Visitors (`person` None) are given one for the sandbox: nothing is stored, and the round's models are always asked.
    `but` is the context that a visitor has now. Seeds `passed` are not drawn, and with `seedless` none is.
    """
    current = (
        people.open_round_for_writer(session, person, task_id) if person else rounds.open_round_of(session, task_id)
    )
    eligibility.admit(session, person, current)
    before = _before(session, person, current) if person else None
    arm = _arm(session, current, person) if person else None
    languages = person.known_languages if person else ()
    last = LastHandout(before.seed_id or 0, before.context_id) if before else LastHandout(0, but)
    drawn = _drawn(session, current, rng, last, arm, person.id if person else 0, languages, [*passed], seedless)
    handout, context, seed = drawn
    if person is not None:
        handout.person_id = person.id
        handout.link = _arrived(rounds.config_of(session, current.version_id), link, before)
        session.add(handout)
        _renew_keys(session, current, rng, context, seed)
    return _offer(session, current, handout, context, seed)


def _renew_keys(session: Session, round_: Round, rng: random.Random, context: Context, seed: Seed | None) -> None:
    if seed is None:
        contexts.renew_keys(context, _sampling(session, round_), rng)
    else:
        seed.draw = rng.randint(0, KEYS)
    session.flush()


def replace_seed(
    session: Session,
    person: Person | None,
    offer: Offer,
    rng: random.Random,
    *,
    but: int = 0,
    passed: Sequence[int] = (),
    seedless: bool = False,
) -> Offer:
    """Return an offer in the place of one whose seed fools the targets.

    A member's handout gets another seed (with `seedless` none), in the same arm and with the same goal, unless another
    window did that or an example was written on it already.
    """
    screening = offer.screening
    if screening is None:
        return offer
    round_ = session.get_one(Round, screening.round_id)
    if person is None:
        return hand_out(session, None, round_.task_id, rng, but, passed=passed, seedless=seedless)
    handout = session.scalars(select(Handout).where(Handout.id == offer.handout.handout).with_for_update()).one()
    is_used = round_.state != RoundState.OPEN or session.scalar(queries.attempts(handout.id))
    if handout.seed_id == offer.seed_id and not is_used:
        arm = next((arm for arm in round_.arms if arm["name"] == handout.arm), None)
        last, languages = LastHandout(offer.seed_id, handout.context_id), person.known_languages
        drawn, context, seed = _drawn(session, round_, rng, last, arm, person.id, languages, [*passed], seedless)
        for name in ("context_id", "start", "initial", "seed_id", "made_from"):
            setattr(handout, name, getattr(drawn, name))
        _renew_keys(session, round_, rng, context, seed)
    else:
        context = session.get_one(Context, handout.context_id)
        seed = session.get(Seed, handout.seed_id) if handout.seed_id else None
    replaced = _offer(session, round_, handout, context, seed)
    return replace(replaced, screening=None) if is_used else replaced


def _before(session: Session, person: Person, round_: Round) -> Handout | None:
    return session.scalar(queries.CURRENT_HANDOUT, {"person": person.id, "round": round_.id})


def _arm(session: Session, round_: Round, person: Person) -> plan.Arm | None:
    if not round_.arms:
        return None
    return plan.assign_arm(session, round_, person.id, session.scalar(queries.draws(person.id, round_.id)) or 0)


def _arrived(config: TaskConfig, link: Mapping[str, str], before: Handout | None) -> dict[str, Any] | None:
    """Return the known parameters of the link by which a person came.

    They come from this link if it says any, else from the person's last hand-out; None where none are known.
    """
    if not config.link:
        return None
    earlier_link = before.link if before else None
    return earlier_link if earlier_link and not _has_known_parameter(config, link) else config.clean_link(link) or None


def _has_known_parameter(config: TaskConfig, link: Mapping[str, str]) -> bool:
    return any(link.get(field.key) for field in config.link)


@dataclass(frozen=True)
class LastHandout:
    """The seed and the context of the hand-out before this one; 0 where there is none."""

    seed_id: int
    context_id: int


def _drawn(
    session: Session,
    current: Round,
    rng: random.Random,
    last: LastHandout,
    arm: plan.Arm | None,
    person_id: int,
    languages: Sequence[str],
    passed: list[int],
    seedless: bool,
) -> tuple[Handout, Context, Seed | None]:
    config = rounds.config_of(session, current.version_id)
    arm_start = arm.get("start") if arm else None
    start, seed = arm_start or config.draw_start(rng), None
    if start == "seed" or seedless:
        if not seedless:
            targets = plan.targets_in(current.arms, arm["name"] if arm else "", rounds.targets_of(session, current.id))
            seed = seed_screening.draw_seed(
                session,
                current,
                targets,
                rng,
                last=last.seed_id,
                languages=languages,
                passed=passed,
                keeps_marks=person_id > 0,
            )
        needs_seed = not seedless and (arm_start == "seed" or config.start.kinds == ["seed"])
        if seed is None and needs_seed and not passed and not seed_screening.is_any_marked(session, current):
            raise errors.Conflict(_("This task has no seeds yet. Its owner can add some."))
        start = start if seed else _start_without_seed(config, rng)
    if seed:
        context = session.get_one(Context, seed.context_id)
    else:
        sampling, pool = _sampling(session, current), planning.context_pool(session, current)
        context = contexts.pick_context(
            session, current.task_id, sampling, rng, last.context_id, person_id, pool, languages
        )
    handout = Handout(
        round_id=current.id,
        context_id=context.id,
        goal=config.draw_goal(rng),
        start=start,
        initial=seed.input if seed else config.initial(start, context.values),
        arm=arm["name"] if arm else "",
        seed_id=seed.id if seed else None,
        made_from=seed.made_from if seed else None,
    )
    return handout, context, seed


def _start_without_seed(config: TaskConfig, rng: random.Random) -> str:
    start = config.draw_start(rng, but="seed")
    return "blank" if start == "seed" else start


def _sampling(session: Session, round_: Round) -> str:
    """Return the sampling of contexts of a round: its plan's, else its config's."""
    return planning.plan_of(round_).sampling or rounds.config_of(session, round_.version_id).contexts.sampling


def perturb(session: Session, person: Person, example_id: int, rng: random.Random, task_id: str = "") -> Offer:
    """Hand one's own example out again, to be edited minimally so that its answer becomes another one.

    Its round must be open and its task must have perturbations. The condition stays that of the example.
    """
    origin = eligibility.own_example(session, person, example_id)
    current = session.get_one(Round, origin.round_id)
    people.require_seat(session, person, current.task_id)
    eligibility.admit(session, person, current)
    standing = session.get_one(Standing, origin.id)
    config = rounds.config_of(session, current.version_id)
    if task_id not in ("", current.task_id):
        raise errors.NotFound(
            _("There is no example %(example_id)s of task %(task_id)s.", example_id=example_id, task_id=repr(task_id))
        )
    if config.perturb is None:
        raise errors.Conflict(_("This task has no perturbations."))
    if current.state != RoundState.OPEN:
        raise errors.Conflict(
            _(
                "Round %(number)s is %(state)s, so its examples can no longer be perturbed.",
                number=current.number,
                state=current.state,
            )
        )
    if standing.retracted or standing.hidden:
        raise errors.Conflict(_("This example was withdrawn or hidden. Choose another one."))
    handout = Handout(
        round_id=current.id,
        context_id=origin.context_id,
        person_id=person.id,
        goal=config.draw_flip(rng, origin.answer),
        start="perturb",
        initial=origin.input,
        arm=origin.arm,
        made_from=origin.id,
    )
    handout.link = _arrived(config, NO_LINK, _before(session, person, current))
    session.add(handout)
    session.flush()
    return _offer(session, current, handout, session.get_one(Context, origin.context_id), None)


def current(
    session: Session,
    person: Person,
    task_id: str,
    *,
    context_id: int = 0,
    handout_id: int = 0,
    link: Mapping[str, str] = NO_LINK,
) -> Offer | None:
    """Return the last hand-out of a person in the open round, so that a reload shows it again.

    None where there is none, or where the person came by another `link` since. With `handout_id` return that
    hand-out, with `context_id` the last one of that context, where there is such a hand-out.
    """
    round_ = rounds.open_round_of(session, task_id)
    handout = session.get(Handout, handout_id) if handout_id else None
    if handout is None or (handout.person_id, handout.round_id) != (person.id, round_.id):
        handout = session.scalar(queries.handout(person.id, round_.id, context_id)) if context_id else None
    handout = handout or _before(session, person, round_)
    config = rounds.config_of(session, round_.version_id)
    if handout is None or _arrived(config, link, handout) != handout.link:
        return None
    context = session.get_one(Context, handout.context_id)
    if not (context_id or handout_id) and not _is_known(person, context):
        return None
    seed = session.get(Seed, handout.seed_id) if handout.seed_id else None
    return _offer(session, round_, handout, context, seed)


def _is_known(person: Person, context: Context) -> bool:
    return not person.known_languages or context.language in ("", *person.known_languages)


def _offer(session: Session, round_: Round, handout: Handout, context: Context, seed: Seed | None) -> Offer:
    config = rounds.config_of(session, round_.version_id)
    handout_view = HandoutOut(
        id=context.id,
        handout=handout.id,
        values=config.shown_context(context.values),
        goal=handout.goal,
        start=handout.start,
        arm=handout.arm,
        initial=handout.initial,
        made_from=handout.made_from,
        seed=None,
        assistant=bool(handout.id)
        and plan.offers_assistant(round_.arms, handout.arm)
        and assisted_field(config) is not None,
    )
    if seed is not None:
        targets = plan.targets_in(round_.arms, handout.arm, rounds.targets_of(session, round_.id))
        return _of_seed(session, round_, config, handout_view, context, seed, targets)
    if handout.start == "perturb" and handout.made_from:
        origin = session.scalars(queries.example(handout.made_from)).one()
        return Offer(handout_view.model_copy(update={"seed": _origin(origin)}))
    return Offer(handout_view)


def _of_seed(
    session: Session,
    round_: Round,
    config: TaskConfig,
    handout_view: HandoutOut,
    context: Context,
    seed: Seed,
    targets: Sequence[plan.Target],
) -> Offer:
    predictions_by_target = {(row.model, row.version): row for row in session.scalars(seeds.seed_predictions(seed.id))}
    predictions = [
        StartAnswerOut(model=row.model, answer=row.answer, probabilities=row.probabilities)
        for row in (predictions_by_target[target] for target in targets if target in predictions_by_target)
    ]
    view_with_seed = handout_view.model_copy(
        update={"seed": SeedOut(input=seed.input, answer=seed.answer, predictions=predictions)}
    )
    missing = tuple(target for target in targets if target not in predictions_by_target)
    screening = seed_screening.screening_of(session, round_, config, seed, targets, predictions_by_target)
    return Offer(view_with_seed, seed.id, config.model_inputs(context.values, seed.input), missing, screening)


def _origin(origin: Example) -> SeedOut:
    predictions = [
        StartAnswerOut(model=row.model, answer=row.answer, probabilities=row.probabilities)
        for row in origin.predictions
    ]
    return SeedOut(input=origin.input, answer=origin.answer, predictions=predictions)

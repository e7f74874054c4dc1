"""Judgements by the author of an example on the models' answers, in tasks that leave this to authors."""

from collections.abc import Sequence
from typing import cast

from sqlalchemy.orm import Session

from dynabench.collection import projections, queries, service
from dynabench.collection.tables import Example, Judgement, Standing
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.tasks.rules.base import EnsembleRule, ensemble_fooled


def judge(session: Session, person: Person, example_id: int, wrong: Sequence[bool]) -> Example:
    """Record what an author says of each answer to their example, in the order of its predictions.

    They may say otherwise until somebody has voted on it. `Conflict` where nobody asked them, or it is too late.
    """
    found = service.own(session, person, example_id)
    config = rounds.config_of(session, found.version_id)
    if config.fooled.judged_by != "annotator":
        raise errors.Conflict(_("In this task the authors of examples do not judge the models' answers."))
    current = session.get_one(Round, found.round_id, with_for_update={"read": True})
    if current.state == RoundState.RELEASED:
        raise errors.Conflict(
            _("Round %(number)s is released, so its examples are not judged any more.", number=current.number)
        )
    standing = projections.locked(session, example_id)
    if standing is None or standing.retracted or standing.hidden:
        raise errors.Conflict(_("This example was taken back or hidden."))
    _check(standing, found, wrong)
    if [each.errs for each in found.predictions] == list(wrong):
        return found  # sent again
    session.add_all(
        Judgement(example_id=found.id, prediction_id=each.id, by="annotator", person_id=person.id, fooled=flag)
        for each, flag in zip(found.predictions, wrong, strict=True)
    )
    session.flush()
    fooled = ensemble_fooled(cast(EnsembleRule, current.fooled_when), wrong)
    projections.count_judgement(session, standing, fooled, list(wrong).count(False), config)
    session.flush()
    session.expire_all()
    return session.scalars(queries.example(example_id)).one()


def _check(standing: Standing, found: Example, wrong: Sequence[bool]) -> None:
    if not found.predictions:
        raise errors.Conflict(_("No model was asked about this example, so there is no answer to judge."))
    if standing.votes:
        raise errors.Conflict(_("Others have checked this example already, so your word on the answer stands."))
    if len(wrong) != len(found.predictions):
        raise errors.Invalid(
            {"wrong": _("Say of each of the %(n)s answers whether it is wrong.", n=len(found.predictions))}
        )

"""Admission of qualified people alone: asked by the services that hand out, record and let check examples."""

from datetime import timedelta

from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.onboarding.service import is_qualified, parts_of
from dynabench.onboarding.tables import OnboardingActivity, Qualification
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.tasks import TaskConfig

GRACE = timedelta(hours=24)
"""Time after the end of a qualification in which work that was begun before is still taken."""


class Unqualified(errors.Forbidden):
    """The task asks for a qualification that the person does not have; `onboarding` is the path of the page for it."""

    def __init__(self, task_id: str, activity: OnboardingActivity) -> None:
        super().__init__(
            _("This task asks you to go through its onboarding first."),
            onboarding=f"/tasks/{task_id}/onboarding/{activity.value}",
            activity=activity.value,
        )


def require_qualified(
    session: Session, person: Person, config: TaskConfig, activity: OnboardingActivity, *, begun: bool = False
) -> None:
    """Raise `Unqualified` for a person who has to go through the onboarding of a task first.

    Where the task asks for none nothing is read; a qualified person costs one probe of a primary key, others a second
    one for their role. People who run a program need the qualification too. With `begun` the person sends work that
    they were given, which is taken for a while after the end of the qualification.
    """
    if config.onboarding is None or not config.onboarding.required or not parts_of(config, activity):
        return
    qualification = session.get(Qualification, (config.id, person.id, activity))
    if is_qualified(qualification, config.onboarding, at=now() - GRACE if begun else now()):
        return
    if not may.may_in(session, person, Action.SKIP_ONBOARDING, config.id):
        raise Unqualified(config.id, activity)

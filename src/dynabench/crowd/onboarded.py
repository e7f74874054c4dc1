"""Workers whose onboarding ended: screened out, or with no attempt at the quiz left."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.crowd import participation, queries
from dynabench.crowd.tables import Participation, ParticipationState, Study
from dynabench.people.accounts.tables import Person


def end_participation(session: Session, person: Person, task_id: str, *, screened_out: bool) -> None:
    """End the part that a worker has in a study of a task, with the code of its reason; repeated it changes nothing."""
    study = session.scalar(queries.working_study(task_id, person.id))
    if study is not None:
        state = ParticipationState.SCREENED_OUT if screened_out else ParticipationState.FAILED_QUIZ
        participation.end_early(session, person.id, study.id, state)


def latest_study(session: Session, person: Person) -> str:
    """Return the name, in addresses, of the study that a worker came for last; "" where there is none."""
    latest = (
        select(Study.slug)
        .join(Participation, Participation.study_id == Study.id)
        .where(Participation.person_id == person.id)
        .order_by(Participation.id.desc())
        .limit(1)
    )
    return session.scalar(latest) or ""

"""Assignment of annotators to the arms of a round: drawn by the server from the round's seed, and recorded.

Nobody can tell an arm before it is drawn: the seed is shown to nobody,
and blocks are long enough not to be guessed.
"""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.rounds import arms
from dynabench.rounds.arms import Arm
from dynabench.rounds.tables import Assignment, Round


def arm_of(session: Session, of: Round, person_id: int, given: int) -> Arm | None:
    """The arm for what somebody is handed out now in a round; None in a plain one. `given` counts what they had so far.

    Where arms are assigned by person the first time decides, and is recorded: whatever they do, it stays. Else each
    person has a balanced sequence of their own.
    """
    if not of.arms:
        return None
    if of.assign == "item":
        return arms.drawn(of.arms, f"{of.seed}:{person_id}", given)
    known = session.get(Assignment, (of.id, person_id)) or _assign(session, of, person_id)
    return next((arm for arm in of.arms if arm["name"] == known.arm), None)


def _assign(session: Session, of: Round, person_id: int) -> Assignment:
    """The next place of the round's sequence; newcomers of a moment take their places one after the other."""
    session.execute(select(Round.id).where(Round.id == of.id).with_for_update(key_share=True))
    if known := session.get(Assignment, (of.id, person_id)):  # the same person's other window was first
        return known
    place = session.scalar(select(func.count()).select_from(Assignment).where(Assignment.round_id == of.id)) or 0
    arm = arms.drawn(of.arms, str(of.seed), place)
    made = Assignment(round_id=of.id, person_id=person_id, arm=arm["name"] if arm else "", place=place)
    session.add(made)
    session.flush()
    return made

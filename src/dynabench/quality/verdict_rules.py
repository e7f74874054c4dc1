"""The rule by which the votes of a round decide: plain, or weighted by the reliability of validators.

An owner chooses it after a preview. The weights are those of the stored estimates at that moment; they stand beside
each vote, so that verdicts can be recomputed from the votes alone. A durable job makes verdicts follow, a few examples
in each transaction, in rounds that are not released. The latest decision counts: a job that disagrees with it stops.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection import projections
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.jobs import Job
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.quality import queries, service
from dynabench.quality.estimates import RuleEffect
from dynabench.quality.tables import VerdictRuleChoice
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.stats.verdict import VerdictRule
from dynabench.validation import queries as vote_queries
from dynabench.validation import service as voting

KIND = "weigh_votes"
SIZE = 50  # examples in one transaction, in which others wait to vote on them


@dataclass(frozen=True)
class RuleState:
    """The rule of a round, and what choosing each rule now would change (None before estimates were computed).

    `running` until verdicts have followed the decision; `examples` were looked at so far, and `verdicts` changed.
    """

    rule: VerdictRule
    at: datetime | None
    running: bool
    examples: int
    verdicts: int
    weighted_effect: RuleEffect | None
    plain_effect: RuleEffect | None
    changeable: bool


def read_rule(session: Session, actor: Person | None, task_id: str, number: int) -> RuleState:
    """Return the rule of a round with a preview of each choice (owners and moderators)."""
    stored = service.read_estimates(session, actor, task_id, number)
    round_ = rounds.round_of(session, task_id, number)
    choice = session.get(VerdictRuleChoice, round_.id)
    job = session.get(Job, choice.job_id) if choice and choice.job_id else None
    done = (job.done if job else None) or {}
    estimates = stored.estimates
    return RuleState(
        rule=VerdictRule.PLAIN if round_.vote_weight is None else VerdictRule.WEIGHTED,
        at=choice.at if choice else None,
        running=choice is not None and not done.get("finished", job is None),
        examples=done.get("examples", 0),
        verdicts=done.get("verdicts", 0),
        weighted_effect=estimates.weighted_effect if estimates else None,
        plain_effect=estimates.plain_effect if estimates else None,
        changeable=round_.state in vote_queries.VALIDATED,
    )


def choose_rule(session: Session, actor: Person | None, task_id: str, number: int, rule: str) -> VerdictRuleChoice:
    """Decide by which rule the votes of a round count (owners); the verdicts follow soon after.

    Choosing the weighted rule again takes the newest weights. Refused for released rounds and drafts, and without
    estimates.
    """
    rounds.require(session, actor, Action.CHOOSE_VERDICT_RULE, task_id)
    if rule not in set(VerdictRule):
        raise errors.Invalid({"rule": _("Choose one of %(rules)s.", rules=", ".join(VerdictRule))})
    round_id = rounds.round_of(session, task_id, number).id
    round_ = session.get_one(Round, round_id, with_for_update=True, populate_existing=True)
    if round_.state not in vote_queries.VALIDATED:
        raise errors.Conflict(_("Only the verdicts of an open or closed round can change."))
    weights: dict[str, Any] = {}
    round_.vote_weight = None
    if rule == VerdictRule.WEIGHTED:
        estimates = service.read_estimates(session, actor, task_id, number).estimates
        if estimates is None or not estimates.validators:
            raise errors.Conflict(_("There are no estimates of this round yet. Compute them first."))
        weights = {str(row.person_id): row.weight for row in estimates.validators}
        round_.vote_weight = estimates.new_weight
    by = actor.id if actor else None
    job = jobs.enqueue(session, KIND, {"round": round_id}, by)
    session.flush()
    choice = session.get(VerdictRuleChoice, round_id, with_for_update=True, populate_existing=True)
    if choice is None:
        choice = VerdictRuleChoice(round_id=round_id, rule=rule, weights=weights, by=by, job_id=job.id)
        session.add(choice)
    else:
        choice.rule, choice.weights, choice.by, choice.job_id, choice.at = rule, weights, by, job.id, now()
    rounds.record_act(session, actor, "verdict_rule.choose", task=task_id, round=number, rule=rule)
    session.flush()
    return choice


def weigh_some(session: Session, job_id: str, round_id: int) -> bool:
    """Make some examples of a round follow the decision on its rule; return whether more are left.

    The job's row says how far it came, in the same transaction: a step that is run again goes on from there.
    """
    job = session.get_one(Job, job_id, with_for_update=True, populate_existing=True)
    # A release locks its round first and its standings after that: it comes before these examples or after them.
    locked = select(Round).where(Round.id == round_id).with_for_update(key_share=True)
    round_ = session.scalars(locked.execution_options(populate_existing=True)).one_or_none()
    choice = session.get(VerdictRuleChoice, round_id, populate_existing=True)
    done: dict[str, Any] = {"last": 0, "examples": 0, "verdicts": 0, "finished": False} | (job.done or {})
    stopped = round_ is None or round_.state not in vote_queries.VALIDATED or choice is None or choice.job_id != job_id
    if done["finished"] or round_ is None or choice is None or stopped:
        job.done = done | {"finished": True}
        return False
    ids = session.scalars(queries.voted_examples(round_id, done["last"], SIZE)).all()
    for example_id in ids:
        done["verdicts"] += _weigh_example(session, example_id, choice, round_)
    done["examples"] += len(ids)
    done["last"] = ids[-1] if ids else done["last"]
    done["finished"] = len(ids) < SIZE
    job.done = done
    if done["finished"]:
        actor = session.get(Person, choice.by) if choice.by else None
        counts = {"examples": done["examples"], "verdicts": done["verdicts"]}
        act = {"task": round_.task_id, "round": round_.number, "rule": choice.rule}
        rounds.record_act(session, actor, "votes.weighed", **act, **counts)
    return not done["finished"]


def _weigh_example(session: Session, example_id: int, choice: VerdictRuleChoice, round_: Round) -> bool:
    """Give the votes on an example their weights, and the example its verdict; return whether that changed."""
    standing = projections.locked(session, example_id)
    if standing is None:
        return False
    before, weighted = standing.verdict, choice.rule == VerdictRule.WEIGHTED
    for vote, _person, _excluded in session.execute(vote_queries.all_votes(example_id)):
        vote.weight = choice.weights.get(str(vote.person_id), round_.vote_weight) if weighted else None
    session.flush()
    votes = session.scalars(vote_queries.votes(example_id)).all()
    config = rounds.config_of(session, round_.version_id)
    new = voting.recount(session, standing, config, votes)
    session.flush()
    return new != before

"""The one place that decides whether a person may do something.

`RULES` says for each action who may do it. `may` decides from what is known of the person, `may_in` reads their role
in a task first, and `require` raises `Forbidden`. Two questions are answered elsewhere: what a token may be used for
(`accounts.auth`), and which part of a round's plan or of the site's settings applies; these choose the action that is
asked about here.
"""

from dataclasses import dataclass
from enum import Flag, StrEnum, auto
from typing import NamedTuple

from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import TaskRole, role_in_task


class Relation(Flag):
    """A person's relations to a task and to a thing in it; an administrator's ban counts for nothing."""

    VISITOR = auto()
    MEMBER = auto()
    VALIDATOR = auto()
    ANNOTATOR = auto()
    EXPERT = auto()
    MODERATOR = auto()
    OWNER = auto()
    ADMIN = auto()
    AUTHOR = auto()
    BANNED = auto()


class Action(StrEnum):
    """Everything that not everybody may do; its line in `RULES` says who may."""

    # Taking part in a task
    WRITE_EXAMPLE = auto()
    CHECK_EXAMPLE = auto()
    JOIN_INVITED_TASK = auto()
    JOIN_EXPERT_ROUND = auto()
    JOIN_ANY_ROUND = auto()
    SKIP_ONBOARDING = auto()
    # Looking after what people write
    LEARN_OF_EXAMPLE = auto()
    HIDE_EXAMPLE = auto()
    MODERATE = auto()
    BAN_MEMBER = auto()
    BAN_MODERATOR = auto()
    EXCLUDE_VOTES = auto()
    CHOOSE_VERDICT_RULE = auto()
    MANAGE_CONTROLS = auto()
    ADJUDICATE = auto()
    ANSWER_APPEAL = auto()
    LIST_PEOPLE = auto()
    READ_SIGNALS = auto()
    CHECK_SIGNAL = auto()
    READ_USERNAMES = auto()
    READ_LINKS = auto()
    SEARCH_EXAMPLES = auto()
    READ_EXAMPLE = auto()
    READ_FIGURES = auto()
    EXPORT_UNRELEASED = auto()
    DECIDE_ALONE = auto()
    # Running a task
    OPEN_CONSOLE = auto()
    MANAGE_TASK = auto()
    SAVE_TASK = auto()
    SET_ROLE = auto()
    INVITE_PEOPLE = auto()
    ANNOUNCE = auto()
    DRAFT_ROUND = auto()
    SEE_DRAFT = auto()
    PLAN_ROUND = auto()
    OPEN_ROUND = auto()
    CLOSE_ROUND = auto()
    RELEASE_ROUND = auto()
    MEASURE_ROUND = auto()
    RUN_CYCLE = auto()
    RUN_COMPETITION = auto()
    RUN_STUDIES = auto()
    MANAGE_CONTEXTS = auto()
    IMPORT_DATA = auto()
    MANAGE_DATASETS = auto()
    ENTER_MODEL = auto()
    SEE_PAY = auto()
    MANAGE_PAY = auto()
    APPROVE_PAYMENTS = auto()
    MANAGE_REPORTS = auto()
    ARCHIVE_TASK = auto()
    LIST_SUBMISSIONS = auto()
    # One's own things
    CHANGE_SUBMISSION = auto()
    SEE_SUBMISSION = auto()
    CHANGE_BOARD = auto()
    CHANGE_MODEL = auto()
    SEE_OPEN_EVALUATION = auto()
    CHANGE_OPEN_EVALUATION = auto()
    SEE_PROPOSAL = auto()
    WITHDRAW_PROPOSAL = auto()
    SEE_IMPORT = auto()
    SEE_DATA_REPORT = auto()
    MANAGE_CLASS = auto()
    MANAGE_TEAM = auto()
    SEE_REPOSITORY = auto()
    CHANGE_REPOSITORY = auto()
    HIDE_REPOSITORY = auto()
    PROPOSE_CHANGE = auto()
    CHANGE_PROPOSAL = auto()
    # Running the site
    EVALUATE_OPENLY = auto()
    CREATE_TASK = auto()
    CREATE_CLASS = auto()
    DECIDE_PROPOSAL = auto()
    NAME_KEEPER = auto()
    SEE_EVERY_DATASET = auto()
    ADMINISTER_SITE = auto()


class AccessRule(NamedTuple):
    """One of these relations is needed, and none of those in `barred`; `refusal` is told to the others."""

    needed: Relation
    refusal: str = ""
    barred: Relation = Relation(0)


_ADMIN = Relation.ADMIN
_OWNER = Relation.OWNER | _ADMIN
_MODERATOR = Relation.MODERATOR | _OWNER
_EXPERT = Relation.EXPERT | _MODERATOR
_ROLE = Relation.VALIDATOR | Relation.ANNOTATOR | _EXPERT
_AUTHOR = Relation.AUTHOR | _ADMIN

ADMINISTRATORS = AccessRule(_ADMIN, _("Only administrators of this site can do this."))
OWNERS = AccessRule(_OWNER, _("Only owners of this task can do this."))
MODERATORS = AccessRule(_MODERATOR, _("Only owners and moderators of this task can do this."))
AUTHORS = AccessRule(_AUTHOR, _("Only the author can do this."))

RULES: dict[Action, AccessRule] = {
    # Taking part in a task
    Action.WRITE_EXAMPLE: AccessRule(
        Relation.VISITOR | Relation.MEMBER,  # what visitors write goes into the sandbox
        _("Your role in this task is to check examples. To write examples as well, ask an owner of the task."),
        barred=Relation.VALIDATOR | Relation.BANNED,
    ),
    Action.CHECK_EXAMPLE: AccessRule(Relation.MEMBER, barred=Relation.BANNED),
    Action.JOIN_INVITED_TASK: AccessRule(
        _ROLE, _("This task is by invitation only. Ask an owner of the task for an invitation.")
    ),
    Action.JOIN_EXPERT_ROUND: AccessRule(
        _EXPERT, _("This round is for experts only. Ask an owner of the task for the expert role.")
    ),
    Action.JOIN_ANY_ROUND: OWNERS,
    Action.SKIP_ONBOARDING: AccessRule(_EXPERT),
    # Looking after what people write
    Action.LEARN_OF_EXAMPLE: AccessRule(_ROLE),
    Action.HIDE_EXAMPLE: AccessRule(
        _MODERATOR, _("Only owners and moderators of this task can hide or restore examples.")
    ),
    Action.MODERATE: MODERATORS,
    Action.BAN_MEMBER: MODERATORS,
    Action.BAN_MODERATOR: AccessRule(_OWNER, _("Only owners of this task can warn or ban its moderators.")),
    Action.EXCLUDE_VOTES: AccessRule(_OWNER, _("Only owners of this task can exclude a person's votes.")),
    Action.CHOOSE_VERDICT_RULE: OWNERS,
    Action.MANAGE_CONTROLS: AccessRule(_OWNER, _("Only owners of this task can see and change control items.")),
    Action.ADJUDICATE: AccessRule(_EXPERT, _("Only experts, moderators and owners of this task can decide cases.")),
    Action.ANSWER_APPEAL: AccessRule(
        _EXPERT, _("Only experts, moderators and owners of this task can answer appeals.")
    ),
    Action.LIST_PEOPLE: MODERATORS,
    Action.READ_SIGNALS: MODERATORS,
    Action.CHECK_SIGNAL: MODERATORS,
    Action.READ_USERNAMES: OWNERS,
    Action.READ_LINKS: OWNERS,
    Action.SEARCH_EXAMPLES: MODERATORS,
    Action.READ_EXAMPLE: OWNERS,
    Action.READ_FIGURES: MODERATORS,
    Action.EXPORT_UNRELEASED: OWNERS,
    Action.DECIDE_ALONE: AccessRule(_OWNER, _("Only owners of this task can decide alone.")),
    # Running a task
    Action.OPEN_CONSOLE: MODERATORS,
    Action.MANAGE_TASK: OWNERS,
    Action.SAVE_TASK: OWNERS,
    Action.SET_ROLE: OWNERS,
    Action.INVITE_PEOPLE: OWNERS,
    Action.ANNOUNCE: OWNERS,
    Action.DRAFT_ROUND: OWNERS,
    Action.SEE_DRAFT: OWNERS,
    Action.PLAN_ROUND: OWNERS,
    Action.OPEN_ROUND: OWNERS,
    Action.CLOSE_ROUND: OWNERS,
    Action.RELEASE_ROUND: OWNERS,
    Action.MEASURE_ROUND: OWNERS,
    Action.RUN_CYCLE: OWNERS,
    Action.RUN_COMPETITION: OWNERS,
    Action.RUN_STUDIES: OWNERS,
    Action.MANAGE_CONTEXTS: OWNERS,
    Action.IMPORT_DATA: OWNERS,
    Action.MANAGE_DATASETS: OWNERS,
    Action.ENTER_MODEL: OWNERS,
    Action.SEE_PAY: OWNERS,
    Action.MANAGE_PAY: OWNERS,
    Action.APPROVE_PAYMENTS: AccessRule(_OWNER, _("Only owners of this task can approve payments.")),
    Action.MANAGE_REPORTS: OWNERS,
    Action.ARCHIVE_TASK: OWNERS,
    Action.LIST_SUBMISSIONS: OWNERS,
    # One's own things
    Action.CHANGE_SUBMISSION: AccessRule(_AUTHOR, _("Only the person who submitted this can do that.")),
    Action.SEE_SUBMISSION: AUTHORS,  # a private one, and the name of an anonymous one
    Action.CHANGE_BOARD: AccessRule(_AUTHOR, _("Only the person who created this board can change it.")),
    Action.CHANGE_MODEL: AccessRule(_AUTHOR, _("Only the model's keeper and administrators can change who sees it.")),
    Action.SEE_OPEN_EVALUATION: AUTHORS,  # one whose scores are not listed, and its rows
    Action.CHANGE_OPEN_EVALUATION: AccessRule(_AUTHOR, _("Only the person who started this evaluation can change it.")),
    Action.SEE_PROPOSAL: AUTHORS,
    Action.WITHDRAW_PROPOSAL: AccessRule(
        Relation.AUTHOR, _("Only the person who proposed a task can withdraw it. You can refuse the proposal.")
    ),
    Action.SEE_IMPORT: AUTHORS,
    Action.SEE_DATA_REPORT: AUTHORS,
    Action.MANAGE_CLASS: AccessRule(_AUTHOR, _("Only the teacher of this class can do this.")),
    Action.MANAGE_TEAM: AccessRule(_AUTHOR, _("Only the captain of this team can do this.")),
    Action.SEE_REPOSITORY: AUTHORS,  # a private one of the hub
    Action.CHANGE_REPOSITORY: AccessRule(
        _AUTHOR, _("Only the owner of this repository can do this. Propose the change as a pull request.")
    ),
    Action.HIDE_REPOSITORY: ADMINISTRATORS,
    Action.PROPOSE_CHANGE: AccessRule(Relation.MEMBER),
    Action.CHANGE_PROPOSAL: AccessRule(_AUTHOR, _("Only the author of the pull request can do this.")),
    # Running the site
    Action.EVALUATE_OPENLY: AccessRule(Relation.MEMBER, _("Log in to start an evaluation.")),
    Action.CREATE_TASK: AccessRule(
        _ADMIN, _("Only administrators can create tasks. Propose the task with POST /proposals.")
    ),
    Action.CREATE_CLASS: ADMINISTRATORS,  # where the settings leave it to them
    Action.DECIDE_PROPOSAL: ADMINISTRATORS,
    Action.NAME_KEEPER: AccessRule(_ADMIN, _("Only administrators can name a model's keeper.")),
    Action.SEE_EVERY_DATASET: ADMINISTRATORS,
    Action.ADMINISTER_SITE: ADMINISTRATORS,
}


@dataclass(frozen=True)
class Permission:
    """The answer to one question; true where the action is allowed, else with the `reason`."""

    allowed: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.allowed


def may(
    person: Person | None, action: Action, *, role: str | None = None, author: int | None = None, banned: bool = False
) -> Permission:
    """Decide whether a person (None for a visitor) may do something.

    `role` is theirs in the task, `author` the id of the author of the thing, and `banned` says that a ban from the
    task is known.
    """
    rule = RULES[action]
    relation = _relation(person, role, author, banned)
    allowed = bool(relation & rule.needed) and not relation & rule.barred
    return Permission(allowed, "" if allowed else rule.refusal)


def _relation(person: Person | None, role: str | None, author: int | None, banned: bool) -> Relation:
    if person is None:
        return Relation.VISITOR
    relation = Relation.MEMBER
    if person.admin:
        relation |= Relation.ADMIN
    else:
        relation |= Relation[role.upper()] if role else Relation(0)
        relation |= Relation.BANNED if banned else Relation(0)
    return relation | Relation.AUTHOR if author == person.id else relation


def may_in(session: Session, person: Person | None, action: Action, task_id: str) -> Permission:
    """Decide whether a person (None for a visitor) may do something in a task, by their role in it."""
    return may(person, action, role=role_of(session, person, task_id))


def require(session: Session, actor: Person | None, action: Action, task_id: str) -> None:
    """Raise `Forbidden` where an actor may not do something in a task; None is the operator at the command line."""
    if actor is not None:
        refuse_unless(may_in(session, actor, action, task_id))


def actor_may(session: Session, actor: Person | None, action: Action, task_id: str) -> bool:
    """Return whether an actor may do something in a task; None is the operator at the command line."""
    return actor is None or bool(may_in(session, actor, action, task_id))


def refuse_unless(permission: Permission) -> None:
    """Raise `Forbidden` with the reason of a permission that is refused."""
    if not permission:
        raise errors.Forbidden(permission.reason)


def refuse_if_banned(person: Person, banned: str | None) -> None:
    """Raise `Forbidden` with the reason of a ban; an administrator's counts for nothing."""
    if not may(person, Action.CHECK_EXAMPLE, banned=banned is not None):
        raise errors.Forbidden(f"You may no longer write or check examples for this task: {banned}")


def require_admission(
    annotators: str, person: Person | None, role: str | None, banned: str | None, *, checking: bool = False
) -> None:
    """Refuse a person who may not write for a task, or not check.

    Banned people may do neither. Where the `annotators` of its config are `invited`, people without a role and visitors
    may not either. Validators check and write nothing.
    """
    invited = annotators == "invited"
    if person is None:
        if invited:
            raise errors.Unauthenticated(_("This task is by invitation. Log in if you are a member."))
        return
    refuse_if_banned(person, banned)
    if invited:
        refuse_unless(may(person, Action.JOIN_INVITED_TASK, role=role))
    if not checking:
        refuse_unless(may(person, Action.WRITE_EXAMPLE, role=role))


def role_of(session: Session, person: Person | None, task_id: str) -> TaskRole | None:
    """Return the role of a person in a task, which is an owner's for administrators; None without one."""
    if person is None:
        return None
    return effective_role(person, None if person.admin else session.scalar(role_in_task(task_id, person.id)))


def effective_role(person: Person, role: str | None) -> TaskRole | None:
    """Return the role that counts for a person whose own role in a task is known: an owner's for administrators."""
    if person.admin:
        return TaskRole.OWNER
    return TaskRole(role) if role else None


def actions_of(person: Person | None, role: str | None) -> frozenset[Action]:
    """Return what a person may do in a task by their role in it, for the parts of a page that only some people see."""
    return frozenset(action for action in Action if may(person, action, role=role))

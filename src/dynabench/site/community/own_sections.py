"""The sections of a person's own data: for each a select of the person's rows, with the columns that the person gets.

What is hidden stays so: no other person's name or text, no id of a crowd platform, and nothing that tells a control
item from an example. Votes are listed alike, whether they answered an example or a control; how many answers to
controls were right is told for released rounds, in which nobody checks any more.
"""

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Select, case, func, or_, select
from sqlalchemy.orm import aliased

from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example, Standing
from dynabench.collection.writing_facts import WritingFacts
from dynabench.communities.classes.tables import ClassStudent, SchoolClass
from dynabench.communities.competitions.tables import Competition, CompetitionPerson
from dynabench.communities.credits.tables import Credit
from dynabench.communities.inspiration.tables import Inspiration
from dynabench.communities.teams.tables import Team, TeamMember
from dynabench.crowd.tables import ConsentText, Participation, Study
from dynabench.hubs.schemas import KINDS
from dynabench.hubs.tables import HubDiscussion, HubDiscussionEvent, HubNamespace, HubRepository, RepositoryFlag
from dynabench.onboarding.tables import OnboardingProgress, Qualification, QuizAnswer, QuizAttempt
from dynabench.open_evaluations.tables import DatasetFile, ModelCardEntry, OpenEvaluation
from dynabench.pay.tables import Payment, Payout
from dynabench.people.accounts.tables import Identity, Notice, Person, Token
from dynabench.people.accounts.tables import Session as Login
from dynabench.people.roles import Ban, Role
from dynabench.quality.signals.tables import Signal
from dynabench.quality.tables import Appeal
from dynabench.recognition.badges.tables import BadgeAward
from dynabench.rounds.tables import Context, Round, RoundPerson, RoundState
from dynabench.stats.verdict import Verdict
from dynabench.validation.controls.tables import MEASURED, ControlAnswer, ControlDecision
from dynabench.validation.queries import CONTROL_STANDS, TAKEN_BACK
from dynabench.validation.tables import Skip, Undo, Validation, VoteExclusion

Selected = Select[*tuple[Any, ...]]
Section = Callable[[int], Selected]
PagedSection = Callable[[int, int, int], Selected]
"""Rows of a person above an id, at most so many; the first column is the id."""


def _account(person: int) -> Selected:
    names = (
        "username email email_confirmed_at pseudonym language public_profile known_languages terms agreed_at created_at"
    )
    return select(*(getattr(Person, name) for name in names.split())).where(Person.id == person)


def _logins(person: int) -> Selected:
    return select(Login.created_at, Login.seen_at, Login.expires_at, Login.user_agent).where(Login.person_id == person)


def _tokens(person: int) -> Selected:
    columns = (Token.name, Token.scopes, Token.created_at, Token.used_at, Token.revoked_at)
    return select(*columns).where(Token.person_id == person).order_by(Token.id)


def _identities(person: int) -> Selected:
    columns = (Identity.issuer, Identity.subject, Identity.email, Identity.created_at, Identity.used_at)
    return select(*columns).where(Identity.person_id == person).order_by(Identity.id)


def _notices(person: int) -> Selected:
    columns = (Notice.kind, Notice.text, Notice.at, Notice.seen_at)
    return select(*columns).where(Notice.person_id == person).order_by(Notice.id)


def _roles(person: int) -> Selected:
    return select(Role.task_id.label("task"), Role.role).where(Role.person_id == person).order_by(Role.task_id)


def _invited(person: int) -> Selected:
    rows = select(Round.task_id.label("task"), Round.number.label("round"))
    return rows.join(RoundPerson, RoundPerson.round_id == Round.id).where(RoundPerson.person_id == person)


def _bans(person: int) -> Selected:
    return select(Ban.task_id.label("task"), Ban.reason, Ban.at).where(Ban.person_id == person)


def _excluded_votes(person: int) -> Selected:
    columns = (VoteExclusion.task_id.label("task"), VoteExclusion.excluded, VoteExclusion.at)
    return select(*columns).where(VoteExclusion.person_id == person)


def _appeals(person: int) -> Selected:
    columns = (Appeal.kind, Appeal.reason, Appeal.decided_at, Appeal.text, Appeal.state, Appeal.answer)
    rows = select(Appeal.task_id.label("task"), *columns, Appeal.at, Appeal.answered_at)
    return rows.where(Appeal.person_id == person).order_by(Appeal.id)


def _badges(person: int) -> Selected:
    return select(BadgeAward.badge, BadgeAward.subject, BadgeAward.at).where(BadgeAward.person_id == person)


def _onboardings(person: int) -> Selected:
    names = "activity version done practised screened_out started_at".split()
    columns = (getattr(OnboardingProgress, name) for name in names)
    return select(OnboardingProgress.task_id.label("task"), *columns).where(OnboardingProgress.person_id == person)


def _quiz_attempts(person: int) -> Selected:
    names = "activity number version state right begun_at ended_at".split()
    columns = (getattr(QuizAttempt, name) for name in names)
    rows = select(QuizAttempt.task_id.label("task"), *columns).where(QuizAttempt.person_id == person)
    return rows.order_by(QuizAttempt.id)


def _quiz_answers(person: int) -> Selected:
    rows = (
        select(
            QuizAttempt.task_id.label("task"),
            QuizAttempt.activity,
            QuizAttempt.number.label("attempt"),
            QuizAnswer.question,
            QuizAnswer.option.label("answer"),
            QuizAnswer.right,
            QuizAnswer.at,
        )
        .join(QuizAttempt, QuizAttempt.id == QuizAnswer.attempt_id)
        .where(QuizAttempt.person_id == person)
    )
    return rows.order_by(QuizAnswer.attempt_id, QuizAnswer.position)


def _qualifications(person: int) -> Selected:
    names = "activity version at expires_at by_hand".split()
    columns = (getattr(Qualification, name) for name in names)
    return select(Qualification.task_id.label("task"), *columns).where(Qualification.person_id == person)


def _control_decisions(person: int) -> Selected:
    names = "consequence answers right threshold at ended_at".split()
    columns = (getattr(ControlDecision, name) for name in names)
    rows = select(ControlDecision.task_id.label("task"), *columns).where(ControlDecision.person_id == person)
    return rows.order_by(ControlDecision.id)


def _control_answers(person: int) -> Selected:
    right = func.sum(case((ControlAnswer.is_right, 1), else_=0)).label("right")
    rows = (
        select(Round.task_id.label("task"), Round.number.label("round"), func.count().label("answers"), right)
        .select_from(ControlAnswer)
        .join(Validation, Validation.id == ControlAnswer.validation_id)
        .join(Example, Example.id == Validation.example_id)
        .join(Round, Round.id == Example.round_id)
        .where(ControlAnswer.person_id == person, ControlAnswer.kind.in_(MEASURED), ~ControlAnswer.taken_back)
        .where(Round.state == RoundState.RELEASED)
    )
    return rows.group_by(Round.task_id, Round.number).order_by(Round.task_id, Round.number)


def _signals(person: int) -> Selected:
    names = "kind value threshold facts at state reason checked_at".split()
    columns = (getattr(Signal, name) for name in names)
    rows = select(Signal.task_id.label("task"), Example.uid.label("example"), *columns)
    return rows.join(Example, Example.id == Signal.example_id).where(Signal.person_id == person).order_by(Signal.id)


def _classes(person: int) -> Selected:
    columns = (ClassStudent.name.label("name_in_class"), ClassStudent.account_made, ClassStudent.joined_at)
    rows = select(SchoolClass.name.label("class"), SchoolClass.task_id.label("task"), *columns)
    return rows.join(SchoolClass, SchoolClass.id == ClassStudent.class_id).where(ClassStudent.person_id == person)


def _classes_taught(person: int) -> Selected:
    names = "name state assignment goals due_at places created_at".split()
    columns = (getattr(SchoolClass, name) for name in names)
    rows = select(SchoolClass.task_id.label("task"), *columns).where(SchoolClass.teacher_id == person)
    return rows.order_by(SchoolClass.id)


def _teams(person: int) -> Selected:
    columns = (TeamMember.captain, TeamMember.first_day, TeamMember.last_day, TeamMember.joined_at, TeamMember.left_at)
    rows = select(Team.name.label("team"), Team.task_id.label("task"), *columns)
    return rows.join(Team, Team.id == TeamMember.team_id).where(TeamMember.person_id == person).order_by(TeamMember.id)


def _competitions(person: int) -> Selected:
    rows = (
        select(Competition.name.label("competition"), Competition.task_id.label("task"), Team.name.label("team"))
        .join(CompetitionPerson, CompetitionPerson.competition_id == Competition.id)
        .join(Team, Team.id == CompetitionPerson.team_id)
    )
    return rows.where(CompetitionPerson.person_id == person).order_by(Competition.id)


def _credit(person: int) -> Selected:
    return select(Credit.mode, Credit.name, Credit.changed_at).where(Credit.person_id == person)


def _inspirations(person: int) -> Selected:
    rows = select(
        Round.task_id.label("task"), Round.number.label("round"), Example.uid.label("example"), Inspiration.at
    )
    joined = (
        rows.select_from(Inspiration)
        .join(Handout, Handout.id == Inspiration.handout_id)
        .join(Example, Example.id == Inspiration.example_id)
        .join(Round, Round.id == Inspiration.round_id)
    )
    return joined.where(Handout.person_id == person).order_by(Inspiration.at)


def _studies(person: int) -> Selected:
    names = "state outcome reason consented_at arrived_at seen_at finished_at decided_at".split()
    columns = (getattr(Participation, name) for name in names)
    rows = select(Study.name.label("study"), Study.task_id.label("task"), ConsentText.text.label("consent"), *columns)
    joined = rows.join(Participation, Participation.study_id == Study.id)
    joined = joined.outerjoin(ConsentText, ConsentText.id == Participation.consent_id)
    return joined.where(Participation.person_id == person).order_by(Participation.id)


def _payments(person: int) -> Selected:
    names = "kind amount currency reason item state decision at".split()
    columns = (getattr(Payment, name) for name in names)
    rows = select(Round.task_id.label("task"), Round.number.label("round"), *columns)
    return rows.join(Round, Round.id == Payment.round_id).where(Payment.person_id == person).order_by(Payment.id)


def _payouts(person: int) -> Selected:
    columns = (Payout.amount, Payout.currency, Payout.reason, Payout.state, Payout.created_at, Payout.settled_at)
    rows = select(Round.task_id.label("task"), Round.number.label("round"), *columns)
    return rows.join(Round, Round.id == Payout.round_id).where(Payout.person_id == person).order_by(Payout.id)


def _hub_names(person: int) -> Selected:
    return select(HubNamespace.name).where(HubNamespace.person_id == person)


def _repositories(person: int) -> Selected:
    names = "kind name private hidden head summary created_at changed_at".split()
    columns = (getattr(HubRepository, name) for name in names)
    folders = case({str(kind): f"/hub/{name}s/" for name, kind in KINDS.items()}, value=HubRepository.kind)
    files = (folders + HubNamespace.name + "/" + HubRepository.name + "/files").label("files")
    rows = select(*columns, files).join(HubNamespace, HubNamespace.person_id == HubRepository.owner_id)
    return rows.where(HubRepository.owner_id == person).order_by(HubRepository.id)


def _discussions(person: int) -> Selected:
    columns = (HubDiscussion.title, HubDiscussion.pull, HubDiscussion.state, HubDiscussion.created_at)
    return select(*columns).where(HubDiscussion.author_id == person).order_by(HubDiscussion.id)


def _comments(person: int) -> Selected:
    columns = (HubDiscussionEvent.kind, HubDiscussionEvent.text, HubDiscussionEvent.at)
    return select(*columns).where(HubDiscussionEvent.author_id == person).order_by(HubDiscussionEvent.id)


def _flags_of_repositories(person: int) -> Selected:
    columns = (RepositoryFlag.reason, RepositoryFlag.text, RepositoryFlag.state, RepositoryFlag.created_at)
    rows = select(HubRepository.name.label("repository"), *columns)
    mine = rows.join(HubRepository, HubRepository.id == RepositoryFlag.repository_id)
    return mine.where(RepositoryFlag.person_id == person).order_by(RepositoryFlag.id)


def _dataset_files(person: int) -> Selected:
    columns = (DatasetFile.name, DatasetFile.size, DatasetFile.rows, DatasetFile.digest, DatasetFile.created_at)
    return select(*columns).where(DatasetFile.person_id == person).order_by(DatasetFile.created_at, DatasetFile.id)


def _open_evaluations(person: int) -> Selected:
    names = "id kind title edition choices state reason rows refused listed created_at ended_at".split()
    columns = (getattr(OpenEvaluation, name) for name in names)
    return select(*columns).where(OpenEvaluation.person_id == person).order_by(OpenEvaluation.id)


def _open_evaluation_cards(person: int) -> Selected:
    names = "evaluation_id model place target state revision pull made_at".split()
    columns = (getattr(ModelCardEntry, name) for name in names)
    own = select(*columns).join(OpenEvaluation, OpenEvaluation.id == ModelCardEntry.evaluation_id)
    return own.where(OpenEvaluation.person_id == person).order_by(ModelCardEntry.evaluation_id, ModelCardEntry.model)


SECTIONS: Mapping[str, Section] = {
    "account": _account,
    "logins": _logins,
    "tokens": _tokens,
    "identities": _identities,
    "notices": _notices,
    "roles": _roles,
    "invited_to": _invited,
    "bans": _bans,
    "excluded_votes": _excluded_votes,
    "appeals": _appeals,
    "badges": _badges,
    "onboardings": _onboardings,
    "quiz_attempts": _quiz_attempts,
    "quiz_answers": _quiz_answers,
    "qualifications": _qualifications,
    "control_decisions": _control_decisions,
    "control_answers": _control_answers,
    "signals": _signals,
    "classes": _classes,
    "classes_taught": _classes_taught,
    "teams": _teams,
    "competitions": _competitions,
    "credit": _credit,
    "inspirations": _inspirations,
    "studies": _studies,
    "payments": _payments,
    "payouts": _payouts,
    "hub_names": _hub_names,
    "repositories": _repositories,
    "discussions": _discussions,
    "comments": _comments,
    "flags_of_repositories": _flags_of_repositories,
    "dataset_files": _dataset_files,
    "open_evaluations": _open_evaluations,
    "open_evaluation_cards": _open_evaluation_cards,
}


def _examples(person: int, after: int, limit: int) -> Selected:
    columns = (Example.input, Example.answer, Example.start, Example.source, Example.edit_distance, Example.attempt)
    writing = (WritingFacts.typed, WritingFacts.pasted, WritingFacts.model_written)
    final = case((Standing.verdict != Verdict.PENDING, Standing.verdict), else_=None).label("verdict")
    rows = (
        select(
            Example.id,
            Example.uid,
            Round.task_id.label("task"),
            Round.number.label("round"),
            Context.values.label("context"),
            *columns,
            *(Example.seconds, Example.active_seconds, *writing),
            *(Standing.fooled, final, Standing.retracted, Standing.hidden, Example.at),
        )
        .join(Standing, Standing.example_id == Example.id)
        .join(Round, Round.id == Example.round_id)
        .join(Context, Context.id == Example.context_id)
        .outerjoin(WritingFacts, WritingFacts.example_id == Example.id)
        .where(Example.author_id == person, Example.id > after)
    )
    return rows.order_by(Example.id).limit(limit)


def _votes(person: int, after: int, limit: int) -> Selected:
    """Select a person's latest vote under each example's number: a range of the index of people.

    Also a vote that an owner excluded. One row for each number, since an example may follow a control under it.
    """
    later, undone = aliased(Validation), aliased(Undo)
    taken_back = select(undone.validation_id).where(undone.validation_id == later.id, ~undone.excluded).exists()
    control_stands = select(ControlAnswer.validation_id).where(
        ControlAnswer.validation_id == later.id, ~ControlAnswer.taken_back
    )
    same = (later.person_id == person, later.example_id == Validation.example_id, later.id > Validation.id)
    newer = select(later.id).where(*same, or_(~taken_back, control_stands.exists())).exists()
    columns = (Validation.vote, Validation.blind_answer, Validation.values, Validation.by_owner, Validation.at)
    rows = (
        select(
            Validation.example_id,
            Round.task_id.label("task"),
            Round.number.label("round"),
            *columns,
            *(Validation.seconds, Validation.active_seconds),
        )
        .join(Example, Example.id == Validation.example_id)
        .join(Round, Round.id == Example.round_id)
        .where(Validation.person_id == person, Validation.example_id > after)
        .where(~TAKEN_BACK | CONTROL_STANDS, ~newer)
    )
    return rows.order_by(Validation.example_id).limit(limit)


def _skips(person: int, after: int, limit: int) -> Selected:
    rows = select(Skip.example_id, Skip.at).where(Skip.person_id == person, Skip.example_id > after)
    return rows.order_by(Skip.example_id).limit(limit)


PAGED_SECTIONS: Mapping[str, PagedSection] = {"examples": _examples, "votes": _votes, "skips": _skips}

"""Rules on what may be shown of hidden datasets and examples, anonymous submissions and models that few may see.

This is the only place that reads a visibility: `scripts/disclosure_lint.py` holds that. Pages, the API, exports,
boards, logs, records and releases ask `Disclosure.of`; where something is kept or signed for all readers, they ask
`Disclosure.at_most`. Statements take their where-clauses from here, which are made of the same sets as the rules, so
that a list and a page cannot differ. A visibility that is in no set is shown to nobody.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from sqlalchemy import ColumnElement, and_, or_

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.stats.rates import FEW_ROWS

SMALLEST_SLICE = FEW_ROWS
"""Rows from which on a slice says something: smaller ones are marked, and of hidden datasets shown to nobody."""
ROWS = frozenset({"public"})
"""Datasets whose rows everybody may read."""
COUNTS = ROWS | {"scoring"}
"""Datasets of which everybody may know that they are there and how many rows were answered right."""
NAMED = frozenset({"public"})
"""Submissions whose name and submitter everybody may know."""
TRIES = NAMED | {"private"}
"""Submissions that count as tries of their submitter: an anonymous one would be told from the count."""
SCORED = NAMED | {"anonymous"}
"""Submissions whose scores everybody may know."""
HIDDEN_FOR_GOOD = "secret"
"""Kind of the datasets that are the hidden part of a release."""
Table = type[Any]
"""A mapped class, whose columns a where-clause is made of."""


class DatasetFacts(Protocol):
    """The part of a dataset, or of a copy of it, that decides what is shown."""

    @property
    def visibility(self) -> str:
        """`hidden`, `scoring` or `public`."""


class ListedDataset(DatasetFacts, Protocol):
    """A dataset that may have a version that is ready."""

    @property
    def version_id(self) -> int | None:
        """The version that counts."""


class DatasetKind(Protocol):
    """The part of a dataset that says what its rows are."""

    @property
    def kind(self) -> str:
        """The kind of dataset, such as `rows`, `round` or `HIDDEN_FOR_GOOD`."""


class SubmissionFacts(Protocol):
    """The part of a submission, or of a copy of it, that decides what is shown."""

    @property
    def visibility(self) -> str:
        """`public`, `anonymous` or `private`."""

    @property
    def person_id(self) -> int | None:
        """The submitter."""


class RunSubmission(Protocol):
    """A submission with where its model runs."""

    @property
    def inside(self) -> bool:
        """True where the model runs inside the platform."""

    @property
    def kind(self) -> str:
        """The kind of submission."""


class ExampleStanding(Protocol):
    """The part of an example's standing that decides who sees it."""

    @property
    def retracted(self) -> bool:
        """True where its author took it back."""

    @property
    def hidden(self) -> bool:
        """True where a moderator hid it."""

    @property
    def withheld(self) -> bool:
        """True where it is in the hidden part of a release, or too much like an example there."""


class RepositoryFacts(Protocol):
    """A repository of the hub."""

    @property
    def private(self) -> bool:
        """True where the owner and administrators alone see it."""

    @property
    def hidden(self) -> bool:
        """True where an administrator hid it from all others."""

    @property
    def owner_id(self) -> int:
        """The person who owns it."""


class DigestedVersion(Protocol):
    """A version of a dataset with the digest of its rows, and a commitment to that."""

    @property
    def digest(self) -> str:
        """SHA-256 of the rows."""

    @property
    def commitment(self) -> str:
        """SHA-256 of a salt and the digest."""


@dataclass(frozen=True)
class Disclosure:
    """Decisions about one dataset, one submission or one evaluation, for one viewer.

    `scores`: the submission is there, with its scores of the whole. `counts`: how many rows were answered right, small
    slices included. `marks`: which rows were. `rows`: the rows, what was answered and the tags. `tags`: how many rows
    each tag has. `name`: the submission's name, model and submitter. `log`: the log and the error of a run. `own`: the
    viewer submitted it or is an admin, and may change it.
    """

    scores: bool
    counts: bool
    marks: bool
    rows: bool
    tags: bool
    name: bool
    log: bool
    own: bool

    @classmethod
    def of(
        cls,
        viewer: Person | None,
        dataset: DatasetFacts | None = None,
        submission: SubmissionFacts | None = None,
        *,
        owner: bool = False,
    ) -> "Disclosure":
        """Decide what `viewer` sees; `owner` where they own the dataset's task.

        Without a dataset nothing of any rows is shown, without a submission no name, scores or log.
        """
        own = submission is not None and bool(may.may(viewer, Action.SEE_SUBMISSION, author=submission.person_id))
        entered = submission.visibility if submission else ""
        return cls._decide(dataset.visibility if dataset else None, entered, own, owner)

    @classmethod
    def at_most(cls, visibility: str) -> "Disclosure":
        """Decide what the submitter sees of a dataset of this visibility: nobody sees more, so nothing more is kept."""
        return cls._decide(visibility, "", True, False)

    @classmethod
    def _decide(cls, data: str | None, entered: str, own: bool, owner: bool) -> "Disclosure":
        counts = data in COUNTS
        return cls(
            scores=own or entered in SCORED,
            counts=counts,
            marks=data in ROWS or (counts and own),
            rows=data in ROWS,
            tags=counts or owner,
            name=own or entered in NAMED,
            log=own and (counts or data is None),
            own=own,
        )

    @property
    def slices(self) -> bool:
        """True where slices of any size are shown; of hidden datasets `shows_slice` says which are."""
        return self.counts

    @property
    def hidden(self) -> bool:
        """True where only whole scores are shown, and these as `evaluations.score_ladder` lets them."""
        return not self.counts

    @property
    def reason(self) -> str:
        """The reason why not all is shown; empty where the rows are."""
        if self.rows:
            return ""
        if self.counts:
            return _("This dataset's rows are not public, so that it remains a fair test.")
        return _("Only the overall scores on this dataset are shown.")

    def require_rows(self) -> None:
        """Raise `Forbidden` where the rows are not shown."""
        if not self.rows:
            raise errors.Forbidden(self.reason)

    def require_counts(self) -> None:
        """Raise `Forbidden` where it is not even shown how many rows were answered right."""
        if not self.counts:
            raise errors.Forbidden(self.reason)

    def require_marks(self) -> None:
        """Raise `Forbidden` where it is not shown which rows were answered right."""
        if not self.marks:
            raise errors.Forbidden(self.reason)

    def shows_slice(self, rows: int, total: int) -> bool:
        """Tell whether the scores of a slice of `rows` out of the dataset's `total` rows are shown.

        Of hidden datasets neither those of small slices are nor those of slices that leave out a few rows: the whole's
        score would say how these were answered.
        """
        return self.slices or (rows >= SMALLEST_SLICE and not 0 < total - rows < SMALLEST_SLICE)

    def shows_tag(self, rows: int, total: int) -> bool:
        """Tell whether it is shown that `rows` of `total` rows have a tag."""
        return self.tags or self.shows_slice(rows, total)

    def digest(self, version: DigestedVersion) -> str:
        """Return what is shown of the digest of a version's rows: of a hidden dataset a commitment.

        A reader who guesses the rows of a hidden dataset cannot learn from it that the guess is right, and yet it
        changes whenever the rows do; its owners can show the salt once the rows are public.
        """
        return version.digest if self.counts else version.commitment


def lists_dataset(dataset: ListedDataset, owner: bool) -> bool:
    """Tell whether a dataset has a page for a viewer; `owner` where they own its task."""
    return owner or (dataset.visibility in COUNTS and dataset.version_id is not None)


def listed_datasets(dataset: Table, owned: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the where-clause of `lists_dataset`; `owned` is true of datasets whose task the viewer owns."""
    return or_(owned, and_(dataset.visibility.in_(COUNTS), dataset.version_id.is_not(None)))


def datasets_with_rows(dataset: Table) -> ColumnElement[bool]:
    """Return the where-clause of datasets whose rows everybody may read."""
    clause: ColumnElement[bool] = dataset.visibility.in_(ROWS)
    return clause


def datasets_with_counts(dataset: Table) -> ColumnElement[bool]:
    """Return the where-clause of datasets that are not hidden."""
    clause: ColumnElement[bool] = dataset.visibility.in_(COUNTS)
    return clause


def may_answer(dataset: DatasetFacts, submission: RunSubmission) -> bool:
    """Tell whether a submission is evaluated on a dataset: hidden rows go to no file, and to no model outside."""
    return dataset.visibility in COUNTS or (submission.inside and submission.kind != "predictions")


def answerable(dataset: Table, submission: Table) -> ColumnElement[bool]:
    """Return the where-clause of `may_answer`."""
    trusted = and_(submission.inside.is_(True), submission.kind != "predictions")
    return or_(datasets_with_counts(dataset), trusted)


def is_hidden_for_good(dataset: DatasetKind) -> bool:
    """Tell whether a dataset is the hidden part of a release: its visibility, rows and versions never change."""
    return dataset.kind == HIDDEN_FOR_GOOD


def is_anonymous(visibility: str) -> bool:
    """Tell whether a submission is shown without its name and links to no other of its submitter."""
    return visibility not in TRIES


def counts_as_try(submission: SubmissionFacts) -> bool:
    """Tell whether a submission counts among its submitter's."""
    return submission.person_id is not None and submission.visibility in TRIES


def counted_tries(submission: Table) -> ColumnElement[bool]:
    """Return the where-clause of `counts_as_try`."""
    return and_(submission.person_id.is_not(None), submission.visibility.in_(TRIES))


def named_submissions(submission: Table, person_id: int | None = None) -> ColumnElement[bool]:
    """Return the where-clause of submissions whose name everybody may know, and of the person's own."""
    public: ColumnElement[bool] = submission.visibility.in_(NAMED)
    if person_id is None:
        return public
    return or_(public, and_(submission.person_id.is_not(None), submission.person_id == person_id))


def label_without_name(submission_id: int, visibility: str) -> str:
    """Return the words for a submission whose name the viewer may not know."""
    return f"{'Anonymous' if visibility in SCORED else 'Private'} {submission_id}"


def model_visibility(submission: SubmissionFacts) -> str:
    """Return who may see the model of a submission on its own page: those who may know its submitter."""
    return "public" if submission.visibility in NAMED else "private"


def shows_model(visibility: str, keeps: bool, has_role: bool) -> bool:
    """Tell whether a viewer sees a model: one who `keeps` it, or `has_role` in its task where that is asked for."""
    return keeps or visibility == "public" or (visibility == "task" and has_role)


def shows_profile(viewer: Person | None, person: Person) -> bool:
    """Tell whether a viewer sees a person's profile: everybody one that is public, the person alone any other."""
    if person.deleted_at is not None:
        return False
    return person.public_profile or (viewer is not None and viewer.id == person.id)


def shows_repository(viewer: Person | None, repository: RepositoryFacts) -> bool:
    """Return whether a viewer sees a repository of the hub: public ones, else the owner and administrators."""
    public = not (repository.private or repository.hidden)
    return public or bool(may.may(viewer, Action.SEE_REPOSITORY, author=repository.owner_id))


def is_private_choice(visibility: str) -> bool:
    """Return whether a choice between `public` and `private` makes a repository of the hub private."""
    return visibility == "private"


def shown_repositories(viewer: Person | None, repository: Table) -> ColumnElement[bool]:
    """Return the where-clause of the repositories that lists show a viewer: public ones and the viewer's own."""
    public: ColumnElement[bool] = and_(repository.private.is_(False), repository.hidden.is_(False))
    return public if viewer is None else or_(public, repository.owner_id == viewer.id)


def public_profiles(person: Table) -> ColumnElement[bool]:
    """Return the where-clause of people whose profile everybody sees; `person` is the mapped class."""
    return and_(person.public_profile, person.deleted_at.is_(None))


def name_in_activity(person: Person) -> str:
    """Return the name under which live pages tell what a person does; empty unless their profile is public."""
    return person.public_name if shows_profile(None, person) else ""


def is_withheld(standing: ExampleStanding) -> bool:
    """Tell whether a release withholds an example: moderators and owners do not see it either."""
    return standing.withheld


def withheld_in_sql(table: str) -> str:
    """Return the condition, in plain SQL, of the rows of `table` (standings) that a release withholds."""
    return f"{table}.withheld"


def hidden_or_withheld(standing: Any) -> ColumnElement[bool]:
    """Return the where-clause of examples that a moderator hid or a release withholds."""
    return or_(standing.hidden, standing.withheld)


def shows_example(standing: ExampleStanding) -> bool:
    """Tell whether others than its author see an example: neither taken back, nor hidden, nor withheld by a release."""
    return not (standing.retracted or standing.hidden or standing.withheld)


def shown_examples(standing: Any) -> ColumnElement[bool]:
    """Return the where-clause of `shows_example`; `standing` is the mapped class or the columns of its table."""
    return and_(~standing.retracted, ~standing.hidden, ~standing.withheld)


class DatasetVisibility(StrEnum):
    """Audience of a dataset: no row leaves, in no form; results may be shown, the file may not; or everybody."""

    HIDDEN = "hidden"
    SCORING = "scoring"
    PUBLIC = "public"


class ModelVisibility(StrEnum):
    """Audience of a model: everybody, people with a role in its task, or its keeper and admins."""

    PUBLIC = "public"
    TASK = "task"
    PRIVATE = "private"


class SubmissionVisibility(StrEnum):
    """Audience of a submission: everybody, everybody but without its name and submitter, or its submitter."""

    PUBLIC = "public"
    ANONYMOUS = "anonymous"
    PRIVATE = "private"

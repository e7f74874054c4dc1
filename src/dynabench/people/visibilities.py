"""Visibilities of datasets, models and submissions, as their tables store them."""

from enum import StrEnum


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

"""Model folders of pipelines that scikit-learn fitted, without pickle, and the learner of rows that people choose."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from dynabench.kit.errors import Invalid
from dynabench.models import spec
from dynabench.models.backends import linear
from dynabench.models.backends.linear import LinearOptions, Vectoriser
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Text
from dynabench.tasks.sections import Learner


@dataclass(frozen=True)
class _Part:
    """A fitted vectoriser: its settings, terms in the order of their columns, and `idf` of each."""

    how: Vectoriser
    terms: list[str]
    idf: NDArray[np.float64] | None = None


def save(
    folder: Path,
    pipeline: Any,
    *,
    task: str,
    inputs: Sequence[str],
    answer: str,
    licence: str,
    labels: Mapping[Any, str] | None = None,
    separator: str = " ",
    **more: Any,
) -> Path:
    """Make `folder`, named as the model, of a fitted pipeline of vectorisers and a linear classifier; returns it.

    The pipeline ends in a `LogisticRegression`, `LinearSVC`, `SGDClassifier` or another classifier with `coef_`,
    `intercept_` and `classes_`. Before it stand `TfidfVectorizer`, `CountVectorizer` (perhaps with a
    `TfidfTransformer`), a `FeatureUnion` of such, or a `ColumnTransformer` that gives each input its own. A vectoriser
    that is not within a `ColumnTransformer` reads all inputs, joined by `separator`. `labels` says what the
    classifier's classes are called in the task, by default as they are; `more` are further lines of `model.yaml`.

    The folder answers as `pipeline.predict_proba` does, to 1e-6; where that is not to be had, without probabilities.
    Raises `Invalid` for what cannot be stored without code, and for a folder that is there already.
    """
    if folder.exists():
        raise Invalid({"folder": f"{folder} is there already; name a folder that is not."})
    *steps, classifier = [step for _, step in pipeline.steps]
    parts = _parts(steps, list(inputs), separator, list(inputs))
    arrays, how = _weights(classifier)
    arrays |= {f"idf.{number}": part.idf for number, part in enumerate(parts) if part.idf is not None}
    options = LinearOptions(vectorisers=[part.how for part in parts], probabilities=how)
    names = [_name(label, labels) for label in classifier.classes_.tolist()]
    content: dict[str, Any] = {"name": folder.name, "task": task, "kind": "linear", "inputs": list(inputs)}
    content |= {
        "answer": answer,
        "labels": names,
        "licence": licence,
        **more,
        "options": options.model_dump(mode="json"),
    }
    try:
        spec.Spec.model_validate(content)
    except ValidationError as error:
        raise Invalid(
            {".".join(map(str, detail["loc"])) or spec.FILE: detail["msg"] for detail in error.errors()}
        ) from error
    folder.mkdir(parents=True)
    linear.write(folder, [part.terms for part in parts], arrays)
    spec.write(folder, content)
    return folder


def _name(class_label: Any, labels: Mapping[Any, str] | None) -> str:
    if labels is None:
        return str(class_label)
    if class_label not in labels:
        raise Invalid(
            {"labels": f"The classifier's class {class_label!r} has no name; there are {', '.join(map(str, labels))}."}
        )
    return labels[class_label]


def _parts(steps: Sequence[Any], fields: list[str], separator: str, inputs: list[str]) -> list[_Part]:
    """The vectorisers of consecutive steps over some fields."""
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
    from sklearn.pipeline import FeatureUnion, Pipeline

    first, *rest = steps if steps else [None]
    if isinstance(first, Pipeline):
        parts = _parts([step for _, step in first.steps], fields, separator, inputs)
    elif isinstance(first, FeatureUnion):
        _refuse(first.transformer_weights is not None, "A FeatureUnion with weights is not stored; scale the features.")
        branches = [step for _, step in first.transformer_list]
        parts = [part for step in branches for part in _parts([step], fields, separator, inputs)]
    elif isinstance(first, ColumnTransformer):
        parts = _columns(first, separator, inputs)
    elif type(first) in (CountVectorizer, TfidfVectorizer):
        parts = [_vectoriser(first, fields, separator)]
        if isinstance(first, TfidfVectorizer):
            parts = [_weighed(parts[0], first)]
    else:
        raise Invalid({"pipeline": f"A step {type(first).__name__} is not stored; vectorisers of texts are."})
    if rest and type(rest[0]) is TfidfTransformer and len(parts) == 1 and parts[0].idf is None:
        parts, rest = [_weighed(parts[0], rest[0])], rest[1:]
    _refuse(bool(rest), f"A step {type(rest[0]).__name__ if rest else ''} after the vectorisers is not stored.")
    return parts


def _columns(step: Any, separator: str, inputs: list[str]) -> list[_Part]:
    _refuse(step.transformer_weights is not None, "A ColumnTransformer with weights is not stored.")
    parts: list[_Part] = []
    for name, inner, column in step.transformers_:
        if isinstance(inner, str) and inner == "drop":
            continue
        _refuse(isinstance(inner, str), f"{name}: columns that pass through are not texts.")
        field = inputs[column] if isinstance(column, int) and column < len(inputs) else column
        _refuse(field not in inputs, f"{name}: the column is one input's name or number, not {column!r}.")
        parts += _parts([inner], [field], separator, inputs)
    return parts


def _vectoriser(step: Any, fields: list[str], separator: str) -> _Part:
    own = {name: getattr(step, name) for name in ("analyzer", "tokenizer", "preprocessor", "strip_accents")}
    code = [name for name, value in own.items() if callable(value)]
    _refuse(bool(code), f"{', '.join(code)}: a function of your own is code; use the vectoriser's settings.")
    _refuse(not hasattr(step, "vocabulary_"), "The pipeline is not fitted.")
    settings = {
        "analyzer": step.analyzer,
        "ngrams": step.ngram_range,
        "lowercase": step.lowercase,
        "accents": step.strip_accents,
        "stop_words": sorted(step.get_stop_words() or ()),
        "binary": step.binary,
    }
    if step.analyzer == "word":
        settings["token_pattern"] = step.token_pattern
    try:
        how = Vectoriser.model_validate({"fields": fields, "separator": separator, **settings})
    except ValidationError as error:
        raise Invalid({f"pipeline.{detail['loc'][0]}": detail["msg"] for detail in error.errors()}) from error
    return _Part(how, [term for term, _ in sorted(step.vocabulary_.items(), key=lambda item: item[1])])


def _weighed(part: _Part, step: Any) -> _Part:
    """With the weights of a `TfidfVectorizer` or `TfidfTransformer`."""
    settings = {"sublinear_tf": step.sublinear_tf, "idf": step.use_idf, "norm": step.norm}
    return replace(part, how=part.how.model_copy(update=settings), idf=step.idf_ if step.use_idf else None)


def _weights(classifier: Any) -> tuple[dict[str, Any], str]:
    """`weights` and `intercept`, and how decisions become probabilities."""
    from sklearn.linear_model import LogisticRegression, SGDClassifier

    lacks = [name for name in ("coef_", "intercept_", "classes_") if not hasattr(classifier, name)]
    complaint = (
        f"The pipeline ends in {type(classifier).__name__}, which lacks {', '.join(lacks)}: it is not a fitted linear"
    )
    _refuse(bool(lacks), f"{complaint} classifier.")
    coefficients = classifier.coef_.toarray() if hasattr(classifier.coef_, "toarray") else classifier.coef_
    coefficients = np.atleast_2d(np.asarray(coefficients, float))
    rows = len(coefficients)
    several = len(classifier.classes_)
    _refuse(rows != (1 if several == 2 else several), f"{type(classifier).__name__} has {rows} rows of coefficients.")
    how = "none"
    if isinstance(classifier, LogisticRegression):
        how = "softmax" if several > 2 else "logistic"
    elif isinstance(classifier, SGDClassifier):
        how = {"log_loss": "logistic", "modified_huber": "huber"}.get(classifier.loss, "none")
    elif hasattr(classifier, "predict_proba"):
        raise Invalid({"pipeline": f"How {type(classifier).__name__} makes probabilities is not known here."})
    intercept = np.broadcast_to(np.asarray(classifier.intercept_, float), (rows,))
    return {"weights": coefficients.T, "intercept": intercept}, how


def _refuse(wrong: bool, message: str) -> None:
    if wrong:
        raise Invalid({"pipeline": message})


STEPS = 1000
"""Iterations of the classifier's solver."""


@dataclass(frozen=True, order=True)
class ChosenRow:
    """A row of a training set: its uid, the texts that the task's models read, in their order, and its label."""

    uid: str
    texts: tuple[str, ...]
    label: str


def label_balance(rows: Sequence[ChosenRow]) -> dict[str, int]:
    """Return the number of rows with each label, by label."""
    return dict(sorted(Counter(row.label for row in rows).items()))


def train_on_choice(folder: Path, config: TaskConfig, rows: Sequence[ChosenRow], description: str) -> Path:
    """Train the task's learner on `rows`, in whatever order they come, and make the model's `folder`; returns it.

    `description` says in a line what was learnt from. Raises `Invalid` under `rows` where nothing can be learnt.
    """
    if config.training is None:
        raise ValueError("this task trains no models")
    if len(label_balance(rows)) < 2:
        raise Invalid({"rows": "All rows have the same label; a learner needs at least two."})
    ordered = sorted(rows)
    pipeline = _pipeline(config.training.learner)
    try:
        pipeline.fit([" ".join(row.texts) for row in ordered], [row.label for row in ordered])
    except ValueError as error:
        raise Invalid({"rows": f"Nothing can be learnt from these rows: {error}."}) from error
    inputs = list(config.model_inputs({}, {}))
    languages = sorted({field.language for field in (*config.context, *config.input) if isinstance(field, Text)} - {""})
    saved = save(
        folder, pipeline, task=config.id, inputs=inputs, answer=config.answer[0].name, licence=config.data.licence,
        summary=description, data=[config.training.pool], seed=config.training.learner.seed,
        languages=languages or ["en"],
    )  # fmt: skip
    (saved / spec.README).write_text(_card(folder.name, config, ordered, description), encoding="utf-8")
    return saved


def _pipeline(learner: Learner) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    analyzer = "word" if learner.units == "words" else "char_wb"
    terms = TfidfVectorizer(analyzer=analyzer, ngram_range=tuple(learner.ngrams), sublinear_tf=True)
    classifier = {"logistic_regression": LogisticRegression, "linear_svc": LinearSVC}[learner.name]
    weight = "balanced" if learner.balanced else None
    return make_pipeline(terms, classifier(C=learner.c, class_weight=weight, max_iter=STEPS, random_state=learner.seed))


def _card(name: str, config: TaskConfig, rows: Sequence[ChosenRow], description: str) -> str:
    labels = "\n".join(f"| {label} | {count} |" for label, count in label_balance(rows).items())
    table = f"| label | rows |\n| --- | ---: |\n{labels}\n"
    return f"# {name}\n\n{description} The task's learner for {config.name}.\n\n{table}"

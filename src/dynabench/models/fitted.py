"""Model folders of pipelines that scikit-learn fitted, without pickle: `save(folder, pipeline, ...)`."""

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
from dynabench.models.backends.linear import Options, Vectoriser


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
    options = Options(vectorisers=[part.how for part in parts], probabilities=how)
    names = [_name(each, labels) for each in classifier.classes_.tolist()]
    told: dict[str, Any] = {"name": folder.name, "task": task, "kind": "linear", "inputs": list(inputs)}
    told |= {"answer": answer, "labels": names, "licence": licence, **more, "options": options.model_dump(mode="json")}
    try:
        spec.Spec.model_validate(told)
    except ValidationError as error:
        raise Invalid({".".join(map(str, each["loc"])) or spec.FILE: each["msg"] for each in error.errors()}) from error
    folder.mkdir(parents=True)
    linear.write(folder, [part.terms for part in parts], arrays)
    spec.write(folder, told)
    return folder


def _name(each: Any, labels: Mapping[Any, str] | None) -> str:
    if labels is None:
        return str(each)
    if each not in labels:
        raise Invalid(
            {"labels": f"The classifier's class {each!r} has no name; there are {', '.join(map(str, labels))}."}
        )
    return labels[each]


def _parts(steps: Sequence[Any], fields: list[str], separator: str, inputs: list[str]) -> list[_Part]:
    """The vectorisers of consecutive steps over some fields."""
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
    from sklearn.pipeline import FeatureUnion, Pipeline

    first, *rest = steps if steps else [None]
    if isinstance(first, Pipeline):
        found = _parts([step for _, step in first.steps], fields, separator, inputs)
    elif isinstance(first, FeatureUnion):
        _refuse(first.transformer_weights is not None, "A FeatureUnion with weights is not stored; scale the features.")
        each = [step for _, step in first.transformer_list]
        found = [part for step in each for part in _parts([step], fields, separator, inputs)]
    elif isinstance(first, ColumnTransformer):
        found = _columns(first, separator, inputs)
    elif type(first) in (CountVectorizer, TfidfVectorizer):
        found = [_vectoriser(first, fields, separator)]
        if isinstance(first, TfidfVectorizer):
            found = [_weighed(found[0], first)]
    else:
        raise Invalid({"pipeline": f"A step {type(first).__name__} is not stored; vectorisers of texts are."})
    if rest and type(rest[0]) is TfidfTransformer and len(found) == 1 and found[0].idf is None:
        found, rest = [_weighed(found[0], rest[0])], rest[1:]
    _refuse(bool(rest), f"A step {type(rest[0]).__name__ if rest else ''} after the vectorisers is not stored.")
    return found


def _columns(step: Any, separator: str, inputs: list[str]) -> list[_Part]:
    _refuse(step.transformer_weights is not None, "A ColumnTransformer with weights is not stored.")
    found: list[_Part] = []
    for name, inner, column in step.transformers_:
        if isinstance(inner, str) and inner == "drop":
            continue
        _refuse(isinstance(inner, str), f"{name}: columns that pass through are not texts.")
        one = inputs[column] if isinstance(column, int) and column < len(inputs) else column
        _refuse(one not in inputs, f"{name}: the column is one input's name or number, not {column!r}.")
        found += _parts([inner], [one], separator, inputs)
    return found


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
        raise Invalid({f"pipeline.{each['loc'][0]}": each["msg"] for each in error.errors()}) from error
    return _Part(how, [term for term, _ in sorted(step.vocabulary_.items(), key=lambda item: item[1])])


def _weighed(part: _Part, step: Any) -> _Part:
    """With the weights of a `TfidfVectorizer` or `TfidfTransformer`."""
    settings = {"sublinear_tf": step.sublinear_tf, "idf": step.use_idf, "norm": step.norm}
    return replace(part, how=part.how.model_copy(update=settings), idf=step.idf_ if step.use_idf else None)


def _weights(classifier: Any) -> tuple[dict[str, Any], str]:
    """`weights` and `intercept`, and how decisions become probabilities."""
    from sklearn.linear_model import LogisticRegression, SGDClassifier

    lacks = [name for name in ("coef_", "intercept_", "classes_") if not hasattr(classifier, name)]
    told = (
        f"The pipeline ends in {type(classifier).__name__}, which lacks {', '.join(lacks)}: it is not a fitted linear"
    )
    _refuse(bool(lacks), f"{told} classifier.")
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


def _refuse(wrong: bool, told: str) -> None:
    if wrong:
        raise Invalid({"pipeline": told})

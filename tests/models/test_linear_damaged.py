"""Folders of linear models that somebody damaged or made up."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, fitted
from dynabench.models.backends.linear import LinearModel

from .test_linear import CARD


def spoil(folder, name, change):
    path = folder / "linear.safetensors"
    arrays = load_file(path)
    arrays[name] = change(arrays[name])
    save_file(arrays, path)


def listing(change):
    def spoilt(folder):
        path = folder / "terms.json"
        path.write_text(json.dumps(change(json.loads(path.read_text()))))

    return spoilt


SPOILT = {
    "noise": (lambda folder: (folder / "linear.safetensors").write_bytes(b"\x80\x04noise"), "cannot be read"),
    "no weights": (lambda folder: (folder / "linear.safetensors").unlink(), "cannot be read"),
    "NaN": (lambda folder: spoil(folder, "weights", lambda a: a * np.nan), "weights holds what is no number"),
    "infinite": (lambda folder: spoil(folder, "idf.0", lambda a: a + np.inf), "idf.0 holds what is no number"),
    "too few": (lambda folder: spoil(folder, "weights", lambda a: a[:-1].copy()), "weights is .* is needed"),
    "one label": (lambda folder: spoil(folder, "intercept", lambda a: a[:1].copy()), "intercept is .* is needed"),
    "terms of nothing": (listing(lambda old: []), "a list with 1 lists"),
    "terms of numbers": (listing(lambda old: [[1, 2]]), "a list with 1 lists"),
    "a term twice": (listing(lambda old: [[*old[0][:-1], old[0][0]]]), "listed twice"),
    "a term too many": (listing(lambda old: [[*old[0], "new term"]]), "is needed"),
    "deep": (lambda folder: (folder / "terms.json").write_text("[" * 200_000), "cannot be read"),
    "a pickle": (lambda folder: (folder / "model.pkl").write_bytes(b""), r"not model\.pkl"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_damaged_folder_is_refused_with_the_reason(name, reviews, tmp_path):
    pipeline = Pipeline([("v", TfidfVectorizer()), ("c", LogisticRegression())]).fit(reviews[0][:60], reviews[1][:60])
    folder = fitted.save(tmp_path / "model", pipeline, **CARD)
    spoil_it, answer = SPOILT[name]
    spoil_it(folder)
    with pytest.raises(Invalid, match=answer):
        catalog.open_model(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("- statement\n    separator", "- premise\n    separator", "premise are no inputs"),
        ("(?u)\\b\\w\\w+\\b", "(\\w+)+", "token pattern"),
        ("analyzer: word", "analyzer: exec", "word"),
        ("lowercase: true", "lowercase: true\n    code: rm", "code"),
    ],
)
def test_settings_that_are_none_are_refused_by_name(old, new, message, reviews, tmp_path):
    pipeline = Pipeline([("v", TfidfVectorizer()), ("c", LogisticRegression())]).fit(reviews[0][:60], reviews[1][:60])
    path = fitted.save(tmp_path / "model", pipeline, **CARD) / "model.yaml"
    text = path.read_text()
    assert old in text, text
    path.write_text(text.replace(old, new))
    with pytest.raises(Invalid, match=message):
        LinearModel.open(path.parent)

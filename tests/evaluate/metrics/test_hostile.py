"""Whatever is given to metrics of classes, they compute it or say in a ValueError what to do: no warning, no trace."""

import json
import traceback
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.evaluate import load
from dynabench.evaluate.metrics import glue, super_glue

often = settings(deadline=None, max_examples=40)
single = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.integers(),
    st.floats(),
    st.sampled_from([0.0, 0.5, 1.0, "", "a", "B-PER", "O", b"a", np.nan, np.int8(1), 10**30, 1j]),
    st.fixed_dictionaries({"idx": st.just({"paragraph": 0, "question": 1}), "prediction": st.integers(0, 2)}),
)
row = st.one_of(single, st.lists(single, max_size=3), st.lists(st.lists(st.integers(0, 2), max_size=2), max_size=2))
column = st.one_of(
    st.lists(row, max_size=4),
    st.lists(st.integers(0, 2), min_size=3, max_size=3),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
    st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), min_size=3, max_size=3),
    st.lists(st.lists(st.integers(0, 1), min_size=2, max_size=2), min_size=3, max_size=3),
    st.lists(st.lists(st.sampled_from(["O", "B-A", "I-A"]), min_size=2, max_size=2), min_size=3, max_size=3),
    st.sampled_from([None, 3, "abc", {"a": 1}, np.zeros(3), np.zeros((3, 2)), np.zeros((3, 2, 2), int), np.array("a")]),
)
MODULES: list[tuple[str, Any, dict[str, Any]]] = [
    ("accuracy", None, {}),
    *(
        (name, None, {"average": average})
        for name in ("precision", "recall", "f1")
        for average in ("binary", "samples")
    ),
    *((name, None, {"average": average}) for name in ("precision", "recall", "f1") for average in ("macro", None)),
    ("matthews_correlation", None, {}),
    ("confusion_matrix", None, {"normalize": "true"}),
    ("roc_auc", None, {}),
    ("roc_auc", "multiclass", {"multi_class": "ovo"}),
    ("roc_auc", "multilabel", {"average": "samples"}),
    ("brier_score", None, {}),
    *(("glue", config, {}) for config in glue.Glue.configs[-5:]),
    *(("super_glue", config, {}) for config in super_glue.SuperGlue.configs),
    ("indic_glue", "cvit-mkb-clsr", {}),
    ("indic_glue", "wiki-ner", {}),
    ("xnli", None, {}),
    ("mean_iou", None, {"num_labels": 2}),
    ("poseval", None, {}),
    ("seqeval", None, {}),
    ("seqeval", None, {"mode": "strict", "scheme": "IOB2"}),
    ("expected_calibration_error", None, {}),
    ("maximum_calibration_error", None, {"binning": "mass"}),
    ("cohen_kappa", None, {"weights": "linear"}),
    ("fleiss_kappa", None, {}),
    *(("krippendorff_alpha", None, {"level": level}) for level in ("nominal", "ordinal", "interval", "ratio")),
]


@pytest.mark.parametrize(("name", "config", "options"), MODULES, ids=str)
@often
@given(data=st.data())
def test_anything_is_computed_or_refused(name: str, config: Any, options: Any, data: st.DataObject) -> None:
    module = load(name, config)
    same = data.draw(st.booleans())
    first = data.draw(column)
    given = {key: first if same else data.draw(column) for key in module.columns}
    weighted = "sample_weight" in module.optional and data.draw(st.booleans())
    weights = {"sample_weight": data.draw(st.one_of(column, st.just([0, 0, 0])))} if weighted else {}
    try:
        found = module.compute(**given, **weights, **options)
    except ValueError as refused:
        source = traceback.extract_tb(refused.__traceback__)[-1].filename
    else:
        source = ""
        json.dumps(found, allow_nan=False)
    assert not source or "dynabench" in source, f"the error is another library's: {source}"

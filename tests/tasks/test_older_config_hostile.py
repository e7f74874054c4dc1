"""Older configs with any part replaced by anything."""

import copy

import pytest
import yaml
from dynabench_older_dialects import classic, later, shown
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tasks.test_older_configs import CLASSIC, LATER, read

pytestmark = pytest.mark.release

RAW = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4)
    | st.sampled_from([*classic.TYPES, *later.INPUTS, *shown.TYPES, "prob", "exact_match", "label"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["name", "type", "labels", "constructor_args", "text", "options", "a"]),
                      inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=60, deadline=None, derandomize=True)
@given(source=st.sampled_from([CLASSIC, LATER]), data=st.data())
def test_an_older_config_with_one_part_replaced_is_read_or_refused(source, data):
    raw = copy.deepcopy(yaml.safe_load(source))
    part = raw
    while isinstance(part, dict | list) and part:
        key = data.draw(st.sampled_from(list(part) if isinstance(part, dict) else range(len(part))))
        if not isinstance(part[key], dict | list) or data.draw(st.booleans()):
            part[key] = data.draw(RAW)
            break
        part = part[key]
    content = read(yaml.safe_dump(raw))
    assert content.valid or any(note.kind == "wrong" for note in content.notes)

"""Dividing examples: laws that hold whatever people wrote, and what gives way where they hang together too closely."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.benchmark.releases.division import SPLITS, SplitItem, divide_items, release_report
from dynabench.tasks.sections import ReleaseSettings
from tests.releases.world import sentence


@st.composite
def items(draw):
    result = []
    for number in range(draw(st.integers(1, 40))):
        text = sentence(draw(st.integers(0, 30)))
        verdict = draw(
            st.sampled_from(["correct", "correct", "correct", "incorrect", "pending", "disputed", "flagged"])
        )
        origin = draw(st.none() | st.integers(0, number))
        made_from = None if origin is None else f"u{origin:03}"
        writer, context = f"w{draw(st.integers(0, 8))}", f"c{draw(st.integers(0, 8))}"
        label = draw(st.sampled_from("ab"))
        result.append(SplitItem(f"u{number:03}", writer, context, text, label, verdict, made_from))
    return result


@pytest.mark.slow
@given(items=items(), seed=st.integers(0, 5), train=st.booleans())
def test_every_division_keeps_its_word(items, seed, train):
    rules = ReleaseSettings(seed=seed, unverified="train" if train else "apart")
    result = divide_items(items, rules)
    parts = result.parts
    assert parts == divide_items(items[::-1], rules).parts or len({result.kin[item.uid] for item in items}) < len(items)
    assert parts.keys() == {item.uid for item in items}
    for item in items:
        part = parts[item.uid]
        assert (part in (*SPLITS, "hidden")) == (item.verified or (part == "train" and train))
        if item.verdict in ("incorrect", "flagged"):
            assert part in ("rejected", "withheld")
    tested = {"test": "test", "hidden": "test"}
    verified = [item for item in items if item.verified]

    def shared(value):
        seen = {}
        for item in verified:
            seen.setdefault(value(item), set()).add(tested.get(parts[item.uid], parts[item.uid]))
        return [key for key, some in seen.items() if len(some) > 1]

    assert not shared(lambda item: result.kin[item.uid])
    if "writers" in result.held:
        assert not shared(lambda element: element.writer)
    if "contexts" in result.held:
        assert not shared(lambda this_item: this_item.context)
    secret = {result.kin[uid] for uid, part in parts.items() if part == "hidden"}
    assert not [uid for uid, part in parts.items() if result.kin[uid] in secret and part not in ("hidden", "withheld")]
    sizes = release_report(items, result, rules, 0, 0).parts
    assert sum(sizes.values()) == len(items)
    assert sizes.get("dev", 0) <= round(rules.dev * len(verified)) * 1.1
    assert sizes.get("test", 0) + sizes.get("hidden", 0) <= round((rules.test + rules.hidden) * len(verified)) * 1.1


def verified(writers, contexts, per_writer=5):
    return [SplitItem(f"u{w:02}{c:02}{n}", f"w{w}", f"c{c}", sentence(1000 * w + 10 * c + n), "a", "correct")
            for w in writers for c in contexts(w) for n in range(per_writer)]  # fmt: skip


def test_shares_are_filled_where_nothing_stands_in_the_way():
    result = divide_items(verified(range(40), lambda w: [w]), ReleaseSettings())
    sizes = [list(result.parts.values()).count(part) for part in (*SPLITS, "hidden")]
    assert sizes == [140, 20, 20, 20]
    assert result.held == ("writers", "contexts")


def test_contexts_give_way_before_writers_and_the_report_says_so():
    items = verified(range(20), lambda w: range(4), per_writer=1)
    result = divide_items(items, ReleaseSettings())
    assert result.held == ("writers",)
    answer = release_report(items, result, ReleaseSettings(), 2, 1)
    kinds = {finding.kind for finding in answer.findings}
    assert {"shared contexts", "waiting", "flags"} <= kinds
    test = next(leak for leak in answer.leaks if leak.part == "test")
    assert (test.writers, test.contexts) == (0, test.examples)
    alone = divide_items(verified([1], lambda w: range(8)), ReleaseSettings())
    assert alone.held == ()
    assert list(alone.parts.values()).count("test") == 4


def test_another_seed_is_another_division_and_the_same_is_the_same():
    items = verified(range(30), lambda w: [w])
    first, same, other = (divide_items(items, ReleaseSettings(seed=seed)).parts for seed in (1, 1, 2))
    assert first == same != other


def test_a_round_without_verified_examples_is_not_released():
    items = [SplitItem("u", "w", "c", "text", "a", "pending")]
    report = release_report(items, divide_items(items, ReleaseSettings()), ReleaseSettings(), 1, 0)
    assert report.stopped == ["No example of this round is verified, so there is nothing to release."]


def findings(items, rules=None, **questions):
    rules = rules or ReleaseSettings()
    report = release_report(items, divide_items(items, rules), rules, **{"waiting": 0, "flags": 0} | questions)
    return [(finding.kind, finding.text) for finding in report.findings]


def test_findings_say_what_was_counted():
    items = verified(range(40), lambda w: [w])
    assert findings(items) == []
    assert findings(items, waiting=3, flags=2, published=True) == [
        ("waiting", "Examples still waiting for votes: 3. They would stay unverified forever."),
        ("flags", "Flagged examples not yet reviewed by a moderator: 2."),
        ("published", "A public dataset contains this round's examples: anyone who has it has seen the hidden part."),
    ]
    copies = [replace(items[0], uid=f"copy{number}") for number in range(2)]
    repeated = ("duplicates", "Examples that repeat another one on the same context: 2.")
    assert findings([*items, *copies]) == [repeated]


def test_answers_that_no_test_part_has_are_named():
    items = verified(range(40), lambda w: [w])
    parts = divide_items(items, ReleaseSettings()).parts
    trained = [item for item in items if parts[item.uid] == "train"]
    rare = {trained[0].uid: "b", trained[-1].uid: "c"}
    labelled = [replace(item, label=rare.get(item.uid, item.label)) for item in items]
    assert findings(labelled) == [("labels", "Answers that occur only in the training part: b, c.")]
    untested = ReleaseSettings(train=1, dev=0, test=0, hidden=0)
    assert findings(labelled, untested) == []

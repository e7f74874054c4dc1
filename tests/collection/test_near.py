"""Near-duplicates of earlier examples: shown to the author or flagged, as the task says."""

import pytest
from hypothesis import given as draws
from hypothesis import settings
from hypothesis import strategies as st
from sqlalchemy import select

from dynabench.collection import withdrawal
from dynabench.collection.curation_tables import Label
from dynabench.collection.near_duplicates import LABEL, NearBand
from dynabench.collection.tables import Standing
from dynabench.rounds import service
from dynabench.stats import minhash
from dynabench.tasks.shipped import shipped_tasks
from tests.collection.conftest import draw, send, written

TEXT = "The two tired hikers finished eating their lunch at home long before the storm had begun to gather."
NEAR = TEXT.replace("storm", "storms").upper()
BETWEEN = TEXT.replace("two tired", "three")


def play(database, root, *people, do):
    """A round under a config that says what to do, and one context for all."""
    source = next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "nli")
    assert root.post("/api/v1/tasks/nli/rounds/1/close").status_code == 200
    database.write(service.save_task, None, f"{source}\nnear_duplicates: {{do: {do}}}\n")
    assert root.post("/api/v1/tasks/nli/rounds", json={"targets": ["nli-a"]}).status_code == 201
    return [send(item, written(draw(item), text)).json() for item, text in people]


def test_somebody_elses_text_is_told(database, owner, ada, bob):
    first, own, other, new = play(
        database,
        owner,
        (ada, TEXT),
        (bob, "Something else altogether happened."),
        (bob, NEAR),
        (bob, TEXT[::-1]),
        do="tell",
    )
    assert first["near"] is own["near"] is new["near"] is None
    assert 0.8 < other["near"] < 1
    assert database.read(lambda session: session.scalar(select(Label.name))) is None


def test_it_is_flagged_for_owners_and_told_to_nobody(database, owner, ada, bob):
    first, second = play(database, owner, (ada, TEXT), (bob, NEAR), do="flag")
    assert first["near"] is second["near"] is None
    items = owner.get("/api/v1/tasks/nli/examples", params={"label": LABEL}).json()["items"]
    assert [item["id"] for item in items] == [second["id"]]


def test_a_task_that_wants_nothing_keeps_no_index(database, owner, ada):
    play(database, owner, (ada, TEXT), do="nothing")
    assert database.read(lambda session: session.scalar(select(NearBand.band))) is None


WORDS = st.lists(
    st.sampled_from("river candle orbit meadow signal copper lantern harvest".split()), min_size=1, max_size=30
)


@draws(first=WORDS, second=WORDS)
def test_signatures_estimate_the_similarity_that_is_counted(first, second):
    a, b = (minhash.shingle_hashes(" ".join(words)) for words in (first, second))
    exact = minhash.similarity(a, b)
    assert exact == minhash.similarity(b, a)
    assert (exact == 1) == (set(a.tolist()) == set(b.tolist()))
    share = (minhash.signature(a) == minhash.signature(b)).mean()
    assert abs(share - exact) < 0.45, "32 draws"
    if exact == 1:
        assert (minhash.band_keys(a) == minhash.band_keys(b)).all()


def mixed(value):
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % 2**64
    return value ^ (value >> 31)


@settings(max_examples=25, deadline=None)
@draws(text=st.text(max_size=60))
def test_groups_are_what_one_computes_one_by_one(text):
    answer, factors = minhash.normalize_text(text).ljust(minhash.SHINGLE_WIDTH), minhash._PLACES.tolist()
    parts = [answer[at : at + minhash.SHINGLE_WIDTH] for at in range(len(answer) - minhash.SHINGLE_WIDTH + 1)]
    slow = {mixed(sum(ord(sign) * by for sign, by in zip(part, factors, strict=True)) % 2**64) for part in parts}
    assert minhash.shingle_hashes(text).tolist() == sorted(slow)


def test_near_texts_hang_together_and_others_do_not():
    texts = [TEXT, "Nothing like it was ever written.", NEAR, f"{TEXT} So they say.", "", "", "A"]
    joined = minhash.UnionFind()
    for pair in minhash.near_pairs(texts, 0.8):
        joined.join(pair)
    roots = [joined.root(place) for place in range(len(texts))]
    assert roots[0] == roots[2] == roots[3]
    assert roots[4] == roots[5]
    assert len({roots[0], roots[1], roots[4], roots[6]}) == 4
    assert (
        minhash.band_keys(minhash.shingle_hashes("Ünï")).tolist()
        == minhash.band_keys(minhash.shingle_hashes("ünï!")).tolist()
    )


@pytest.mark.parametrize("share", [0.8, 0.9])
def test_near_pairs_are_found_as_often_as_the_bands_promise(share):
    import numpy as np

    rng, result = np.random.default_rng(0), 0
    for _ in range(200):
        shared, rest = rng.integers(1, 2**63, 180, dtype=np.uint64), round(180 * (1 / share - 1) / 2)
        both = [np.unique(np.r_[shared, rng.integers(1, 2**63, rest, dtype=np.uint64)]) for _ in range(2)]
        result += bool(set(minhash.band_keys(both[0]).tolist()) & set(minhash.band_keys(both[1]).tolist()))
    assert result / 200 > 1 - (1 - share**4) ** 8 - 0.04


def near_of(first, second):
    return minhash.similarity(minhash.shingle_hashes(first), minhash.shingle_hashes(second))


@pytest.mark.parametrize(("threshold", "is_near"), [(0.9, False), (0.75, True)])
def test_the_threshold_of_the_task_decides_what_is_near(database, owner, ada, bob, threshold, is_near):
    """The pair lies between both thresholds: one task tells of it, the other does not."""
    assert 0.77 < near_of(TEXT, BETWEEN) < 0.88
    source = next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "nli")
    assert owner.post("/api/v1/tasks/nli/rounds/1/close").status_code == 200
    rule = f"\nnear_duplicates: {{do: tell, similarity: {threshold}}}\n"
    database.write(service.save_task, None, source + rule)
    assert owner.post("/api/v1/tasks/nli/rounds", json={"targets": ["nli-a"]}).status_code == 201
    send(ada, written(draw(ada), TEXT))
    near = send(bob, written(draw(bob), BETWEEN)).json()["near"]
    assert near == (pytest.approx(near_of(TEXT, BETWEEN), abs=1e-3) if is_near else None)


def withhold(database, example):
    database.write(lambda session: setattr(session.get_one(Standing, example), "withheld", True))


@pytest.mark.parametrize("act", ["hide", "retract", "withhold"])
def test_nobody_is_told_of_a_hidden_retracted_or_withheld_text(database, owner, ada, bob, act):
    """Being told of a likeness would tell that the text is there."""
    [first] = play(database, owner, (ada, TEXT), do="tell")
    if act == "retract":
        assert ada.post(f"/api/v1/examples/{first['id']}/retract").status_code == 200
    elif act == "withhold":
        withhold(database, first["id"])
    else:
        database.write(withdrawal.hide, None, first["id"])
    assert send(bob, written(draw(bob), NEAR)).json()["near"] is None


@pytest.mark.slow
def test_what_is_near_a_withheld_text_is_flagged(database, owner, ada, bob):
    """Owners leave it out, so that the hidden part stays hidden."""
    [first] = play(database, owner, (ada, TEXT), do="flag")
    withhold(database, first["id"])
    second = send(bob, written(draw(bob), NEAR)).json()
    items = owner.get("/api/v1/tasks/nli/examples", params={"label": LABEL}).json()["items"]
    assert (second["near"], [item["id"] for item in items]) == (None, [second["id"]])

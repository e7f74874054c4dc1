"""Models on demand under a memory limit, refusals with figures, and explanations that are kept; real small models."""

import asyncio
import functools
import json
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from dynabench.kit import process_memory
from dynabench.kit.errors import Invalid, NotFound, Unavailable
from dynabench.models.backends import ngram
from dynabench.models.catalog import BUILTIN
from dynabench.models.host import memory
from dynabench.models.host.engine import Engine, ExplanationCache, explanation_key
from dynabench.models.host.memory import SHARED
from dynabench.models.host.repository import ON_DEMAND, READY, UNAVAILABLE, Repository
from dynabench.models.protocol import Attribution, ModelCard, WordWeight

STATEMENT = {"statement": "A good film, on the whole."}
NAMES = ("one", "two", "three")
BITS = 22


@pytest.fixture(scope="module")
def apart():
    """Run a function in a process of these stories alone: what other tests hold and free would move its account."""
    with ProcessPoolExecutor(1, get_context("spawn"), process_memory.share_one_heap) as process:
        yield lambda *answer: process.submit(*answer).result()


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Folders of three models so large (32 MiB) that what else a process takes and frees does not count beside them."""
    models = tmp_path_factory.mktemp("models")
    for name in NAMES:
        folder = models / name
        shutil.copytree(BUILTIN / "sentiment-ngram", folder)
        text = (folder / "model.yaml").read_text()
        (folder / "model.yaml").write_text(text.replace("name: sentiment-ngram", f"name: {name}"))
        options = json.loads((folder / ngram.OPTIONS).read_text())
        arrays = load_file(folder / ngram.WEIGHTS)
        times = 2 ** (BITS - options["bits"])  # a bucket's number is cut off at the options' bits, so answers stay
        save_file({**arrays, "weights": np.tile(arrays["weights"], (times, 1))}, folder / ngram.WEIGHTS)
        (folder / ngram.OPTIONS).write_text(json.dumps({**options, "bits": BITS}))
    return [models]


@functools.cache
def sizes_of(models):
    """Measure the memory that each of the models takes at most; once in a process."""

    async def measure():
        for _ in range(2):  # the first of all models pays for what the process loads once
            probe = Repository([models])
            await probe.start()
            sizes = probe.memory.sizes
            await probe.close()
        return dict.fromkeys(sizes, max(sizes.values()))

    return asyncio.run(measure())


def story(places, run, models=3.0):
    """Run with memory for so many of the models."""

    sizes = sizes_of(*places)

    async def run_story():
        memory.give_back()  # what earlier stories left is not given back in the middle of this one
        repository = Repository(places)
        repository.memory.limit = repository.held + int(models * max(sizes.values()))
        repository.memory.sizes = dict(sizes)
        engine = Engine(repository)
        await repository.start()
        try:
            await run(repository, engine)
        finally:
            await engine.close()
            await repository.close()

    asyncio.run(run_story())


async def ask(engine, name, within=None):
    async with engine.repository.using(name, None, within) as model:
        return (await engine.predict(model, [STATEMENT]))[0].answer["label"]


def loaded(repository):
    return {slot.entry.name for slot in repository.slots() if slot.state == READY}


def change(engine, name):
    return engine.figures.registry.get_sample_value("dynabench_host_changes_total", {"change": name})


async def replace_the_longest_unused(repository, engine):
    assert len(loaded(repository)) == 2
    (absent,) = [slot for slot in repository.slots() if slot.state == UNAVAILABLE]
    assert (absent.reason, absent.on_demand) == (ON_DEMAND, True)
    first, second = sorted(loaded(repository))
    assert await ask(engine, first) == "positive"
    assert await ask(engine, absent.entry.name) == "positive"
    assert loaded(repository) == {first, absent.entry.name}
    assert repository.slot(second).on_demand
    for name in NAMES * 2:
        assert await ask(engine, name) == "positive"
        assert name in loaded(repository)
        # not how many: the system may take pages of files back meanwhile, or give back late what was freed
        assert max(memory.used_after_release(), repository.held) <= repository.memory.limit + SHARED
    assert change(engine, "loaded") == change(engine, "unloaded") + len(loaded(repository))


@pytest.mark.release
def test_what_does_not_fit_is_loaded_on_demand_in_place_of_what_was_used_longest_ago(apart, three):
    apart(story, three, replace_the_longest_unused, 2.5)


async def keep_what_is_asked(repository, engine):
    (held,) = loaded(repository)
    other = next(name for name in NAMES if name != held)
    async with repository.using(held):
        with pytest.raises(Unavailable, match="full of models that are being asked"):
            await ask(engine, other)
        assert loaded(repository) == {held}
        waiting = asyncio.create_task(ask(engine, other))
        await asyncio.sleep(0.1)
    assert await waiting == "positive"
    assert loaded(repository) == {other}


@pytest.mark.release
def test_a_model_that_somebody_waits_for_is_not_unloaded(apart, three):
    apart(story, three, keep_what_is_asked, 1.5)


async def refuse_what_is_too_large(repository, engine):
    assert not loaded(repository)
    for slot in repository.slots():
        assert not slot.on_demand
        assert "this host may use" in slot.reason
        assert "DYNABENCH_HOST_MEMORY" in slot.reason
    with pytest.raises(Unavailable, match="one cannot answer: needs about"):
        await ask(engine, "one")
    with pytest.raises(Unavailable, match="needs about"):
        await repository.load("one")
    repository.memory.limit = None
    await repository.load("one")
    assert await ask(engine, "one") == "positive"


@pytest.mark.release
def test_a_model_too_large_is_refused_with_the_figures(apart, three):
    apart(story, three, refuse_what_is_too_large, 0.5)


async def unload_after_the_calls(repository, engine):
    async with repository.using("one") as model:
        unloading = asyncio.create_task(repository.unload("one"))
        await asyncio.sleep(0.05)
        assert not unloading.done()
        assert (await engine.predict(model, [STATEMENT]))[0].answer["label"] == "positive"
    await unloading
    assert not repository.slot("one").on_demand
    with pytest.raises(Unavailable, match="one cannot answer: unloaded"):
        await ask(engine, "one")
    with pytest.raises(NotFound):
        await repository.unload("nobody")


@pytest.mark.release
def test_what_an_operator_unloads_stays_unloaded_after_its_calls(apart, three):
    apart(story, three, unload_after_the_calls)


async def load_once_for_many(repository, engine):
    absent = next(slot.entry.name for slot in repository.slots() if slot.on_demand)
    before = change(engine, "loaded")
    calls = [asyncio.create_task(ask(engine, absent)) for _ in range(8)]
    await asyncio.sleep(0)
    calls.pop(0).cancel()
    assert await asyncio.gather(*calls) == ["positive"] * 7
    assert change(engine, "loaded") == before + 1


@pytest.mark.release
def test_many_who_want_an_absent_model_load_it_once_and_whoever_leaves_takes_nobody_along(apart, three):
    apart(story, three, load_once_for_many, 2.5)


async def explain_once(repository, engine):
    def figure(outcome):
        name = "dynabench_host_explanations_total"
        return engine.figures.registry.get_sample_value(name, {"cache": outcome}) or 0

    async with repository.using("one") as model:
        first = await engine.attribute(model, STATEMENT, "positive", "exact")
        assert await engine.attribute(model, STATEMENT, None, "exact") is first
        assert (figure("hit"), figure("miss")) == (1, 1)
        other = await engine.attribute(model, STATEMENT, "negative", "exact")
        assert other.label == "negative"
        longer = {"statement": STATEMENT["statement"] + " Very."}
        assert await engine.attribute(model, longer, "positive", "exact") is not first
    async with repository.using("two") as model:
        assert await engine.attribute(model, STATEMENT, "positive", "exact") is not first
    assert (figure("hit"), figure("miss")) == (1, 4)


@pytest.mark.release
def test_the_same_question_is_explained_once(apart, three):
    apart(story, three, explain_once)


def test_the_cache_is_bounded_and_forgets_what_was_used_longest_ago():
    card = ModelCard("m", "1", "sentiment", "ngram", ("statement",), "label")
    keys = [explanation_key(card, {"statement": str(number)}, "positive", "exact") for number in range(6)]
    words = [WordWeight("a", 0, 1, 1.0)] * 9
    explanation_cache = ExplanationCache(words=30)
    for key in keys[:3]:
        explanation_cache.put(key, Attribution("exact", "positive", {"statement": words}))
    assert explanation_cache.get(keys[0])
    explanation_cache.put(keys[3], Attribution("exact", "positive", {"statement": words}))
    assert [explanation_cache.get(key) is not None for key in keys] == [True, False, True, True, False, False]
    explanation_cache.put(keys[4], Attribution("exact", "positive", {"statement": words * 4}))
    assert explanation_cache.get(keys[4]) is None


@pytest.mark.parametrize(
    ("text", "size"), [("4GiB", 4 * 2**30), ("512 MiB", 512 * 2**20), ("1.5GB", 1.5e9), ("7", 7), ("none", None)]
)
def test_amounts_of_memory_are_read(text, size):
    assert memory.limit(text) == size


@pytest.mark.parametrize("text", ["lots", "4 bananas", "-1GiB", "0", "1e9"])
def test_what_is_no_amount_of_memory_is_refused(text):
    with pytest.raises(Invalid, match="no amount of memory"):
        memory.limit(text)


def measure_a_block():
    before = memory.used()
    block = bytearray(64 * 2**20)
    assert 60 * 2**20 < memory.used() - before < 80 * 2**20
    del block
    memory.give_back()
    assert memory.used() - before < 20 * 2**20


def test_the_limit_is_a_share_of_the_machines_memory_unless_told_otherwise():
    assert memory.limit("") > 2**28


def test_memory_is_measured_and_given_back(apart):
    apart(measure_a_block)

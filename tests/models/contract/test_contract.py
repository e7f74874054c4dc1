"""One suite for every backend, with real models behind all of them."""

import asyncio
import gc
import math
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, kinds, spec, validity
from dynabench.models.client import Host
from dynabench.models.host import wire
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from dynabench.models.model_check import difference
from dynabench.models.protocol import Attributable, explained
from dynabench.models.words import words
from tests.models.conftest import served
from tests.models.texts import HARD
from tests.models.waiting import until_ready

pytestmark = [pytest.mark.models, pytest.mark.timeout(120)]


def same(card, first, second):
    return all(difference(card, single, other)[0] for single, other in zip(first, second, strict=True))


def test_the_card_says_what_the_model_is(subject):
    card = subject.card
    assert isinstance(subject.model, Attributable)
    assert (card.name, card.version, card.kind) == (subject.folder.name, spec.version(subject.folder), card.kind)
    assert card.task == subject.config.id
    assert validity.answer_problems(subject.config, card) == {}
    assert all((card.inputs, card.answer, card.licence, card.languages, card.size_bytes, card.methods))
    assert card.inside == kinds.kind(card.kind).inside
    assert wire.card_of(wire.card_json(card)) == card


@pytest.mark.release
def test_every_sample_is_answered_validly_and_alone_as_in_any_batch(subject):
    alone = [subject.answers([row])[0] for row in subject.samples]
    validity.check_outputs(subject.card, subject.samples, alone)
    together = subject.answers(subject.samples)
    backwards = subject.answers(subject.samples[::-1])[::-1]
    assert same(subject.card, alone, together)
    assert same(subject.card, alone, backwards)
    assert max(difference(subject.card, *pair)[1] for pair in zip(alone, together, strict=True)) < 0.02
    assert same(subject.card, alone, subject.model.predict(subject.samples))
    assert subject.model.predict([]) == []


@pytest.mark.release
def test_texts_that_break_careless_code_are_answered(subject):
    rows = [dict.fromkeys(subject.card.inputs, text[:1000]) for text in HARD]
    validity.check_outputs(subject.card, rows, subject.answers(rows))


def test_inputs_of_another_form_are_refused_by_name(subject):
    for name in subject.card.inputs:
        whole = dict.fromkeys(subject.card.inputs, "A text.")
        rows = [whole | {name: wrong} for wrong in (None, 7, ["a list"], {"a": 1}, b"bytes")]
        for row in [*rows, {other: text for other, text in whole.items() if other != name}]:
            with pytest.raises(Invalid) as refused:
                subject.model.prepare(row)
            assert set(refused.value.fields) == {name}, row


def test_fields_that_the_model_does_not_read_change_nothing(subject):
    row = subject.short()
    assert same(subject.card, subject.answers([row]), subject.answers([row | {"stranger": "x" * 1000}]))


@pytest.mark.release
def test_each_method_weighs_each_word_once(subject):
    row = subject.short()
    label = explained(subject.card)[0]
    for method in subject.card.methods:
        result = subject.model.attribute(row, label, method)
        assert (result.method, result.label) == (method, label)
        assert set(result.fields) == set(subject.card.inputs)
        for name, weighed in result.fields.items():
            assert [(w.text, w.start, w.end) for w in weighed] == [(w.text, w.start, w.end) for w in words(row[name])]
            assert all(math.isfinite(w.weight) and abs(w.weight) <= 1 + 1e-6 for w in weighed)
        assert result.completeness_error is None or result.completeness_error >= 0


def test_the_quickest_method_explains_hard_texts(subject):
    for text in ("", "😡👍🏽 NOT 🙄", "القطار توقف"):
        row = dict.fromkeys(subject.card.inputs, text)
        result = subject.model.attribute(row, explained(subject.card)[-1], subject.card.methods[0])
        assert all(len(weighed) == len(list(words(text))) for weighed in result.fields.values()), text


def test_another_label_or_method_is_refused(subject):
    row = subject.short()
    with pytest.raises(Invalid) as refused:
        subject.model.attribute(row, "no such label", subject.card.methods[0])
    assert set(refused.value.fields) == {"label"}
    with pytest.raises(Invalid) as refused:
        subject.model.attribute(row, explained(subject.card)[0], "divination")
    assert set(refused.value.fields) == {"method"}


def test_a_model_opened_twice_answers_twice_and_closing_one_leaves_the_other(subject, another):
    expected = subject.answers(subject.samples[:4])
    second = another()
    assert same(subject.card, expected, second.answer([(second, second.prepare(row)) for row in subject.samples[:4]]))
    second.close()
    assert same(subject.card, expected, subject.answers(subject.samples[:4]))
    second.close()
    third = another()
    assert same(subject.card, expected, third.predict(subject.samples[:4]))


def test_closing_frees_the_model_its_threads_and_its_processes(subject):
    def started():
        return {child.pid for child in psutil.Process().children(recursive=True)}, set(threading.enumerate())

    subject.answers(subject.samples[:2])  # what is made once for all models is there already
    processes, threads = started()
    model = catalog.open_model(subject.folder)
    model.predict(subject.samples[:2])
    gone = weakref.ref(model)
    model.close()
    del model
    gc.collect()
    assert gone() is None
    remaining = started()
    assert remaining[0] <= processes
    assert not [thread for thread in remaining[1] - threads if thread.is_alive() and subject.card.name in thread.name]


def test_threads_get_their_own_answers(subject):
    rows = subject.samples[:8]
    expected = [subject.answers([row])[0] for row in rows]
    turns = [turn % len(rows) for turn in range(12)]
    with ThreadPoolExecutor(4) as pool:
        result = list(pool.map(lambda turn: subject.answers([rows[turn]])[0], turns))
    assert same(subject.card, [expected[turn] for turn in turns], result)


@pytest.mark.release
def test_the_host_serves_the_same_answers_by_the_open_inference_protocol(subject):
    rows = subject.samples[:10]
    expected = subject.answers(rows)
    word = subject.short()

    async def ask(url: str) -> None:
        host = Host(url, 120.0)  # what explaining by a chat model may take on a busy machine
        try:
            (state,) = await host.states()
            assert (state.state, state.reason) == ("READY", "")
            assert state.card == subject.card
            result = await asyncio.gather(*(host.answer(subject.card.name, subject.card.version, row) for row in rows))
            assert {answer.version for answer in result} == {subject.card.version}
            assert same(subject.card, expected, result)
            strip = await host.attribute(subject.card.name, subject.card.version, word, None, None)
            assert strip.method == subject.card.methods[0]
            assert {name: len(field) for name, field in strip.fields.items()} == {
                name: len(list(words(word[name]))) for name in subject.card.inputs
            }
        finally:
            await host.close()

    socket = Path(subject.folder).parent / "host.sock"
    places = [subject.folder.parent]
    with served(create_app(Repository(places)), f"unix:{socket}") as url:
        until_ready(url)
        asyncio.run(ask(url))

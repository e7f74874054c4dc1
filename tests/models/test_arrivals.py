"""Models that come into a host's folders while it runs: served by every host, by itself, after a first call."""

import asyncio
import contextlib
import os
import re
import sys
from pathlib import Path

import pytest

from dynabench.kit.errors import Unavailable
from dynabench.models import catalog
from dynabench.models.backends import ngram
from dynabench.models.client import Host
from dynabench.models.host import folder_watch
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from tests.models.conftest import served
from tests.models.test_host import NLI, ask, ngrams, plain, until_ready  # noqa: F401 - a fixture

SECONDS = 60.0
"""Generous: what is waited for takes half a second on an idle machine, and two in a host's processes."""


@pytest.fixture(autouse=True)
def looks(monkeypatch):
    """Hosts look often."""
    monkeypatch.setattr(folder_watch, "LOOK_SECONDS", 0.1)


async def answered(host, name):
    """The answer, waited for as long as the model is on its way."""
    async with asyncio.timeout(SECONDS):
        while True:
            with contextlib.suppress(Unavailable):
                return await host.answer(name, None, NLI)
            await asyncio.sleep(0.1)


@pytest.mark.release
def test_a_model_that_is_installed_later_is_served_by_itself(serve_models, ngrams, copied):  # noqa: F811
    with serve_models(ngrams) as address:

        async def story(host):
            with pytest.raises(Unavailable):
                await host.answer("newcomer", None, NLI)
            copied("nli-ngram", "newcomer")
            assert (await answered(host, "newcomer")).version == catalog.entry("newcomer", places=[ngrams]).version

        ask(address, story)


@pytest.mark.release
def test_each_of_several_hosts_serves_it(copied, tmp_path):
    copied("sentiment-ngram")
    first, second = (create_app(Repository([tmp_path / "models"])) for _ in range(2))
    with (
        served(first, f"unix:{tmp_path / 'first.sock'}") as single,
        served(second, f"unix:{tmp_path / 'second.sock'}") as two,
    ):

        async def story():
            host = Host(f"{single},{two}", 5.0)
            await until_ready(host)
            copied("nli-ngram", "newcomer")
            await answered(host, "newcomer")
            async with asyncio.timeout(SECONDS):  # each host has it, not only the one that answered
                while {state.name: state.where for state in await host.states()}["newcomer"] != host.url:
                    await asyncio.sleep(0.1)
            await host.close()

        asyncio.run(story())


@pytest.mark.release
def test_a_broken_folder_is_served_once_it_is_mended(serve_models, ngrams, copied):  # noqa: F811
    weights = copied("nli-ngram", "torn") / "ngram.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(b"no weights")
    (copied("nli-ngram", "unreadable") / "model.yaml").write_text("name: [")
    with serve_models(ngrams) as address:

        async def story(host):
            for name in ("torn", "unreadable"):
                with pytest.raises(Unavailable):
                    await host.answer(name, None, NLI)
            weights.write_bytes(whole)
            text = (ngrams / "nli-ngram" / "model.yaml").read_text()
            (ngrams / "unreadable" / "model.yaml").write_text(text.replace("nli-ngram", "unreadable"))
            assert await answered(host, "torn")
            assert await answered(host, "unreadable")
            states = await host.states()
            assert all(state.available for state in states), "what the folders held before is listed no more"

        ask(address, story)


@pytest.mark.release
def test_what_an_operator_unloaded_stays_so_and_folders_that_are_being_written_are_no_models(
    serve_models,
    ngrams,  # noqa: F811
    copied,
):
    copied("nli-ngram", ".half-written")
    with serve_models(ngrams) as address:

        async def story(host):
            with plain(address) as http:
                assert http.post("/v2/repository/models/sentiment-ngram/unload").status_code == 200
            copied("nli-ngram", "newcomer")
            await answered(host, "newcomer")
            states = {state.name: state for state in await host.states()}
            assert states["sentiment-ngram"].state == "UNAVAILABLE"
            assert not any("half" in name for name in states)

        ask(address, story)
    assert {entry.name for entry in catalog.find([ngrams])} == {"nli-ngram", "newcomer", "sentiment-ngram"}


def test_the_host_makes_the_first_call_to_each_model_itself(serve_models, ngrams):  # noqa: F811
    with serve_models(ngrams) as address:
        ask(address, lambda host: asyncio.sleep(0))
        with plain(address) as http:
            figures = http.get("/metrics").text
    assert float(re.search(r'batch_size_sum\{lane="ngram"\} (\S+)', figures)[1]) == 2


def unreadable(folder):
    """A model's folder with a file that is there and cannot be read, not even by root."""
    (folder / "more.safetensors").symlink_to("/proc/self/mem")


@pytest.mark.release
def test_a_folder_that_cannot_be_read_holds_up_no_other_and_is_served_once_it_can(serve_models, ngrams, copied):  # noqa: F811
    unreadable(copied("nli-ngram", "locked"))
    with serve_models(ngrams) as address:

        async def story(host):
            assert await answered(host, "nli-ngram")
            states = {state.name: state for state in await host.states()}
            assert "cannot be read" in states["locked"].reason
            copied("nli-ngram", "newcomer")
            unreadable(copied("nli-ngram", "locked-too"))
            assert await answered(host, "newcomer")
            (ngrams / "locked" / "more.safetensors").unlink()
            assert await answered(host, "locked")

        ask(address, story)


@pytest.mark.release
def test_a_folder_that_could_not_be_read_for_a_while_is_read_again(serve_models, ngrams, copied, monkeypatch, tmp_path):  # noqa: F811
    """A file becomes readable, and nothing in the folder changes by that."""
    monkeypatch.setattr(folder_watch, "RETRY_SECONDS", 0.1)
    disk = tmp_path / "disk"
    disk.symlink_to("/proc/self")
    (copied("nli-ngram", "locked") / "more.safetensors").symlink_to(disk / "mem")
    before = folder_watch.folder_marks([ngrams])
    with serve_models(ngrams) as address:

        async def story(host):
            assert "cannot be read" in {state.name: state for state in await host.states()}["locked"].reason
            times = (disk / "mem").stat().st_mtime_ns
            mended = tmp_path / "mended"
            mended.mkdir()
            (mended / "mem").touch()
            os.utime(mended / "mem", ns=(times, times))
            (tmp_path / "swap").symlink_to(mended)
            (tmp_path / "swap").rename(disk)
            assert folder_watch.folder_marks([ngrams]) == before
            assert await answered(host, "locked")

        ask(address, story)


@pytest.mark.release
def test_models_are_loaded_although_a_place_cannot_be_listed(monkeypatch, copied, tmp_path):
    """A mount that fails for a moment: the host says so in its log, and goes on."""
    copied("nli-ngram")
    failures = [OSError(5, "Input/output error")] * 3
    listed = Path.iterdir

    def iterdir(path):
        if path == tmp_path / "models" and failures:
            raise failures.pop()
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    with served(create_app(Repository([tmp_path / "models"])), f"unix:{tmp_path / 'host.sock'}") as address:
        ask(address, lambda host: answered(host, "nli-ngram"))
    assert not failures


def test_a_model_that_panics_while_it_is_loaded_is_listed_and_holds_up_no_other(monkeypatch, serve_models, ngrams):  # noqa: F811
    """A library in Rust raises no `Exception` on torn weights."""

    class Panic(BaseException):
        pass

    def torn(path):
        if path.parent.name == "nli-ngram":
            raise Panic("a bug in Rust")
        return load_file(path)

    load_file = ngram.load_file
    monkeypatch.setattr(ngram, "load_file", torn)
    with serve_models(ngrams) as address:

        async def story(host):
            states = {state.name: state for state in await host.states()}
            assert states["nli-ngram"].state == "UNAVAILABLE"
            assert "a bug in Rust" in states["nli-ngram"].reason
            assert states["sentiment-ngram"].state == "READY"

        ask(address, story)


@pytest.mark.release
def test_a_library_that_is_missing_when_models_are_warmed_up_does_not_end_the_search_for_newcomers(
    monkeypatch, serve_models, copied, tmp_path
):
    monkeypatch.setitem(sys.modules, "captum.attr", None)
    copied("nli-minilm")
    with serve_models(tmp_path / "models") as address:

        async def story(host):
            copied("nli-ngram", "newcomer")
            assert await answered(host, "newcomer")

        ask(address, story)

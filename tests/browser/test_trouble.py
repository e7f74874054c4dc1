"""Messages and drafts when the model host fails."""

import os
import signal
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import expect

from tests.browser.people import models_answer, writing

pytestmark = [pytest.mark.release, pytest.mark.browser]
SAID_BY_FAILURES = "Failed to load resource|: htmx:|Response Status Error Code"


def the_host(home: Path) -> psutil.Process:
    """The model host of the platform in `home`."""
    return next(
        process
        for process in psutil.process_iter(["cmdline", "environ"])  # which leaves out what has just ended
        if " dynabench host " in f"{' '.join(process.info['cmdline'] or [])} "
        and (process.info["environ"] or {}).get("DYNABENCH_HOME") == str(home)
    )


@pytest.fixture
def host(site):
    """The model host, which is back when the next test begins."""
    yield the_host(site.home)
    models_answer(site.base)


def test_a_model_host_that_dies_is_told_of_at_once_and_comes_back(guest, site, host):
    ada = guest("ada")
    page = ada.page
    page.goto("/tasks/nli/create")
    writing(page, "nli").fill("It is raining on the moon.")
    expect(page.locator("[data-draft-status]")).to_have_text("saved")
    os.kill(host.pid, signal.SIGKILL)
    page.keyboard.press("Control+Enter")
    waits = page.locator("[data-again]")
    expect(waits).to_contain_text("Trying again", timeout=12_000)  # before the 15 s that a model here may take are over
    expect(waits).to_contain_text("nli-")
    expect(page.get_by_role("alert")).to_have_count(0)  # nothing red: it heals
    expect(writing(page, "nli")).to_have_value("It is raining on the moon.")
    models_answer(site.base)
    expect(page.locator("#answer-title")).to_be_focused(timeout=60_000)  # sent again without anybody's doing
    expect(page.locator("#tries li", has_text="raining on the moon")).to_have_count(1)
    ada.forgive(SAID_BY_FAILURES)

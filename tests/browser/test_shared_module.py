"""A module from the command to its page: published, computed, commented, flagged, and hidden by an administrator."""

import os
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from dynabench.client import Client
from tests.browser.people import follow
from tests.browser.test_looks import looks_well

pytestmark = [pytest.mark.release, pytest.mark.browser]


def test_a_module_is_published_computed_commented_flagged_and_hidden(site, guest, admin, tmp_path):
    ada, ben, root = guest("ada"), guest("ben"), guest("adele")
    with Client(site.base) as program:
        token = program.log_in("ada", "correct horse battery", ["read", "annotate"])
    environment = os.environ | {"HF_ENDPOINT": f"{site.base}/api/hub", "HF_TOKEN": token, "HF_HOME": str(tmp_path)}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "dynabench", "module", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("new", "agreement")
    [commit] = re.findall(r'revision="([0-9a-f]{40})"', run("publish", "agreement", "ada/agreement"))

    page = ben.page
    page.goto("/hub?kind=spaces")
    follow(page.get_by_role("link", name="ada/agreement"), "**/hub/spaces/ada/agreement")
    follow(page.get_by_role("link", name="Compute"), "**/compute")
    page.get_by_label("predictions").fill("1\n1\n0\n0")
    page.get_by_label("references").fill("1\n1\n0\n1")
    page.get_by_label("with a 95% interval").check()
    page.get_by_role("button", name="Compute").click()
    expect(page.locator(".calc-number strong")).to_have_text("0.7500")
    expect(page.get_by_text(f'revision="{commit}"')).to_be_visible()
    looks_well(page)

    follow(page.get_by_role("link", name="Read or write comments"), "**/discussions")
    page.get_by_label("Title").fill("What of ties?")
    page.get_by_label("Text").fill("Does it count them?")
    follow(page.get_by_role("button", name="Begin discussion"), "**/discussions/1")
    expect(page.get_by_text("Does it count them?")).to_be_visible()
    follow(page.get_by_role("link", name="Compute"), "**/compute")
    follow(page.get_by_role("link", name="Flag this module"), "**/flag")
    page.get_by_label("Reason").select_option("wrong")
    page.get_by_label("What is wrong?").fill("It ignores ties.")
    page.get_by_role("button", name="Send flag").click()
    expect(page.get_by_text("An administrator will look at your flag.")).to_be_visible()
    looks_well(page)

    desk = root.page
    desk.goto("/hub?kind=spaces")
    follow(desk.get_by_role("link", name="Flags"), "**/hub/flags")
    expect(desk.get_by_text("It ignores ties.")).to_be_visible()
    looks_well(desk)
    desk.get_by_role("button", name="Hide").click()
    expect(desk.get_by_text("All caught up")).to_be_visible()
    assert page.request.get("/hub/spaces/ada/agreement/compute").status == 404
    ada.page.goto("/hub/spaces/ada/agreement")
    expect(ada.page.get_by_text("An administrator hid this repository")).to_be_visible()

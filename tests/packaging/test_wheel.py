"""The three wheels, installed as the image's Dockerfile does, serve pages with all that they need."""

import os
import re
import subprocess
import urllib.request

import pytest

from benchmarks.running import free_port, wait_for

pytestmark = [pytest.mark.release, pytest.mark.timeout(900)]


def test_the_installed_wheels_serve_a_page_with_its_assets_and_answers(image, tmp_path):
    port = free_port()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DYNABENCH"))}
    command = [str(image.programs / "dynabench"), "serve", "--demo", "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=tmp_path, env=env | {"DYNABENCH_HOME": str(tmp_path)}, stdout=log, stderr=log
        )
    try:
        base = f"http://127.0.0.1:{port}"
        wait_for(f"{base}/readyz")
        with urllib.request.urlopen(base) as answer:
            page = answer.read().decode()
        assets = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', page))
        assert any("vendor/htmx" in asset for asset in assets)
        for asset in assets:
            with urllib.request.urlopen(base + asset) as answer:
                assert answer.status == 200
        with urllib.request.urlopen(f"{base}/docs/how-to/submit") as answer:
            assert "Submit a model" in answer.read().decode()
    finally:
        process.terminate()
        process.wait(20)

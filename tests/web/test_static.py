import re

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from dynabench.web import static, static_files
from dynabench.web.static import static_address, static_digest


@pytest.fixture
def files():
    return TestClient(Starlette(routes=[Mount("/static", static_files())]))


def test_an_address_with_the_current_digest_may_be_kept_for_good(files):
    answer = files.get(static_address("css/tokens.css"))
    assert answer.status_code == 200
    assert "immutable" in answer.headers["cache-control"]


def test_an_address_of_an_older_release_is_checked_again(files):
    answer = files.get("/static/~000000000000/css/tokens.css")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["~x/../../pages.py", "../pages.py", "~x/%2e%2e/%2e%2e/pages.py", "nothing.js"])
def test_nothing_outside_is_served(files, path):
    assert files.get(f"/static/{path}").status_code == 404


def test_modules_import_only_modules_that_are_there():
    for path in (static.ROOT / "js").glob("*.js"):
        for name in re.findall(r'from "\./([\w-]+\.js)"|import "\./([\w-]+\.js)"', path.read_text()):
            assert (path.parent / (name[0] or name[1])).exists(), (path, name)


def test_files_stay_short():
    for path in [*(static.ROOT / "js").glob("*.js"), *(static.ROOT / "css").glob("*.css")]:
        assert path.read_text().count("\n") < (200 if path.suffix == ".js" else 300), path


def test_the_digest_is_stable():
    assert static_digest() == static_digest.__wrapped__()

import re

import pytest
from pyarrow import Codec
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from dynabench.web import bundles, static, static_files
from dynabench.web.static import static_address, static_digest


@pytest.fixture
def files():
    return TestClient(Starlette(routes=[Mount("/static", static_files())]))


@pytest.fixture(autouse=True)
def unpacked():
    """Nothing is packed yet, and nothing that a test packs is left."""
    static.packed_text.cache_clear()
    yield
    static.packed_text.cache_clear()


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


@pytest.mark.parametrize(("name", "part"), [("css/site.css", b"@layer base"), ("js/site.js", b"customElements.define")])
def test_the_bundles_are_made_of_the_sources_as_they_are(files, name, part, monkeypatch, tmp_path):
    """A stamp of other sources, as after an edit, is no reason to serve what it stands for."""
    (tmp_path / "stamp").write_text("of other sources")
    monkeypatch.setattr(bundles, "STAMP", tmp_path / "stamp")
    bundles.bundles.cache_clear()
    answer = files.get(static_address(name))
    assert part in answer.content
    assert b"@import" not in answer.content
    assert b'from"./' not in answer.content
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/")
    bundles.bundles.cache_clear()


def test_what_was_built_for_the_same_sources_is_served(files, monkeypatch, tmp_path):
    (tmp_path / "stamp").write_text(bundles.sources_digest())
    (tmp_path / "built").write_text("built")
    monkeypatch.setattr(bundles, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(bundles, "bundle_path", lambda _: tmp_path / "built")
    bundles.bundles.cache_clear()
    assert files.get(static_address("js/site.js")).text == "built"
    bundles.bundles.cache_clear()


def test_without_esbuild_the_entry_leads_a_browser_to_all_parts(files, monkeypatch, tmp_path):
    monkeypatch.setattr(bundles, "STAMP", tmp_path / "none")
    monkeypatch.setattr(bundles, "ESBUILD", tmp_path)
    bundles.bundles.cache_clear()
    assert files.get(static_address("css/site.css")).text == (static.ROOT / "css/main.css").read_text()
    bundles.bundles.cache_clear()


def test_the_style_sheet_has_every_sheet():
    entries = ("main.css", "documents.css")
    text = "".join((static.ROOT / "css" / name).read_text() for name in entries)
    named = re.findall(r'@import url\("([\w-]+\.css)"\) layer', text)
    assert sorted([*named, *entries]) == sorted(path.name for path in (static.ROOT / "css").glob("*.css"))


def test_each_rare_element_is_defined_in_the_script_that_names_it():
    for part, elements in bundles.PARTS.items():
        bundles.bundles.cache_clear()
        defined = re.findall(rb'customElements\.define\("([\w-]+)"', bundles.bundles()[part])
        assert sorted(name.decode() for name in defined) == sorted(elements), part


def test_modules_import_only_modules_that_are_there():
    for path in (static.ROOT / "js").glob("*.js"):
        for name in re.findall(r'from "\./([\w-]+\.js)"|import "\./([\w-]+\.js)"', path.read_text()):
            assert (path.parent / (name[0] or name[1])).exists(), (path, name)


def test_files_stay_short():
    for path in [*(static.ROOT / "js").glob("*.js"), *(static.ROOT / "css").glob("*.css")]:
        assert path.read_text().count("\n") < (200 if path.suffix == ".js" else 300), path


def test_the_digest_is_stable():
    assert static_digest() == static_digest.__wrapped__()


def test_texts_are_packed_for_browsers_that_read_brotli_and_only_under_the_current_digest(files):
    plain = files.get(static_address("css/site.css"), headers={"Accept-Encoding": "gzip"})
    packed = files.get(static_address("css/site.css"), headers={"Accept-Encoding": "gzip, br"})
    assert "content-encoding" not in plain.headers
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("br", "Accept-Encoding")
    length = int(packed.headers["content-length"])
    assert (
        Codec("brotli").decompress(static.packed_text("css/site.css"), len(plain.content), asbytes=True)
        == plain.content
    )
    assert length < len(plain.content) / 4
    old = files.get("/static/~000000000000/css/site.css", headers={"Accept-Encoding": "br"})
    assert "content-encoding" not in old.headers
    for path in ("../pages.js", "%2e%2e/%2e%2e/x.css", "js/nothing.js"):
        assert files.get(static_address(path), headers={"Accept-Encoding": "br"}).status_code == 404

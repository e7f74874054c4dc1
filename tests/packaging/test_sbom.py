"""The bills of materials list what is shipped, with licences."""

import json

from dynabench.models import catalog, spec
from scripts import sbom


def test_every_shipped_model_is_listed_with_its_version_and_licence(tmp_path):
    sbom.write_models(tmp_path)
    listed = json.loads((tmp_path / "models.cdx.json").read_text(encoding="utf-8"))["components"]
    assert {each["name"] for each in listed} == {path.parent.name for path in catalog.BUILTIN.glob(f"*/{spec.FILE}")}
    known = {each["name"]: each for each in listed}
    minilm = known["sentiment-minilm"]
    assert minilm["version"] == spec.version(catalog.BUILTIN / "sentiment-minilm")
    assert minilm["licenses"] == [{"license": {"name": "LicenseRef-Research-Use"}}]
    assert known["nli-minilm"]["licenses"] == [{"license": {"id": "CC-BY-SA-4.0"}}]


def test_the_bundled_packages_are_listed_without_the_tests_tools(tmp_path):
    sbom.write_browser(tmp_path)
    listed = json.loads((tmp_path / "browser.cdx.json").read_text(encoding="utf-8"))["components"]
    assert {"htmx.org", "vega", "vega-interpreter"} <= {each["name"] for each in listed}
    assert "axe-core" not in {each["name"] for each in listed}

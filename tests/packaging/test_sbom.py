"""The bills of materials list what is shipped, with licences."""

import json

import pytest

from dynabench.models import catalog, spec
from scripts import sbom


def test_every_shipped_model_is_listed_with_its_version_and_licence(tmp_path):
    sbom.write_models(tmp_path)
    listed = json.loads((tmp_path / "models.cdx.json").read_text(encoding="utf-8"))["components"]
    assert {element["name"] for element in listed} == {
        path.parent.name for path in catalog.BUILTIN.glob(f"*/{spec.FILE}")
    }
    known_values = {item["name"]: item for item in listed}
    minilm = known_values["sentiment-minilm"]
    assert minilm["version"] == spec.version(catalog.BUILTIN / "sentiment-minilm")
    assert minilm["licenses"] == [{"license": {"name": "LicenseRef-Research-Use"}}]
    assert known_values["nli-minilm"]["licenses"] == [{"license": {"id": "CC-BY-SA-4.0"}}]


@pytest.mark.slow
def test_the_bundled_packages_are_listed_without_the_tests_tools(tmp_path):
    sbom.write_browser(tmp_path)
    listed = json.loads((tmp_path / "browser.cdx.json").read_text(encoding="utf-8"))["components"]
    assert {"htmx.org", "vega", "vega-interpreter"} <= {item["name"] for item in listed}
    assert "axe-core" not in {element["name"] for element in listed}

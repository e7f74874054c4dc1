"""Weights are under the licence that their data allow, and every place that names the licence names the same one."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from dynabench.models import catalog, spec
from dynabench.models.training import report

ROOT = Path(__file__).parents[2]
MODELS = sorted(path.name for path in catalog.BUILTIN.iterdir() if (path / spec.FILE).is_file())
RESEARCH = "LicenseRef-Research-Use"
WEIGHTS = ROOT / "distributions" / "weights"


def readme(name):
    """The header of a model's card, and its sections by title."""
    _, head, body = (catalog.BUILTIN / name / spec.README).read_text(encoding="utf-8").split("---\n", 2)
    sections = re.split(r"^## (.*)$", body, flags=re.MULTILINE)
    return yaml.safe_load(head), dict(zip(sections[1::2], sections[2::2], strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_no_more_liberal_licence_than_its_data(name):
    licence = spec.read(catalog.BUILTIN / name).licence
    data = readme(name)[1]["Data"]
    if re.search("research use|without licence|no licence", data):
        assert licence == RESEARCH
    elif "BY-SA" in data:
        assert licence == "CC-BY-SA-4.0"
    assert "non-commercial" not in data
    assert "BY-NC" not in data


@pytest.mark.parametrize("name", MODELS)
def test_the_card_the_list_and_the_notice_name_the_same_licence(name):
    licence = spec.read(catalog.BUILTIN / name).licence
    head, sections = readme(name)
    assert head["license"] == ("other" if licence == RESEARCH else licence.lower())
    assert sections["Licence"].strip().startswith(f"{licence}.")
    assert f"| `{name}` | {licence} |" in (WEIGHTS / "LICENCES.md").read_text(encoding="utf-8")
    text = "Research use only" if licence == RESEARCH else licence
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    assert re.search(rf"- {text}: [^:]*\b{name}\b", notice)


def test_the_weights_distribution_carries_the_licences_of_its_models():
    project = tomllib.loads((WEIGHTS / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    licences = {spec.read(catalog.BUILTIN / name).licence for name in MODELS}
    assert project["license"] == " AND ".join(sorted(licences))
    assert all((WEIGHTS / name).is_file() for name in project["license-files"])


def test_a_card_names_a_licence_that_hubs_do_not_know_as_other():
    details = spec.read(catalog.BUILTIN / "sentiment-ngram")
    written = report.card_text(details, report.CardParts(training=[], data=[], limits="", licence=""))
    assert "license: other\nlicense_name: licenseref-research-use\n" in written


def test_the_notice_names_the_licence_of_every_package_in_the_bundles():
    bundled = ROOT / "src" / "dynabench" / "web" / "static" / "vendor" / "licences.txt"
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8").partition("Browser code")[2]
    for package, licence in re.findall(r"^([a-z@][\w./@-]*) \S+ \(([^)]+)\)$", bundled.read_text(), re.MULTILINE):
        name = (
            re.sub(r"-.*", "-*", package) if package.startswith(("d3-", "vega-")) and package != "d3-ease" else package
        )
        line = next(
            line
            for line in notice.splitlines()
            if re.search(rf"(?<![\w-]){re.escape(name.removesuffix('.org'))}", line)
        )
        assert licence in line or licence in notice.partition(line)[2].splitlines()[1], package

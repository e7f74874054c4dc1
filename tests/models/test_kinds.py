"""The table of kinds: plug-ins from installed packages, what is missing, wrong options."""

import subprocess
import sys

import pytest
import yaml

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, kinds, spec
from tests.models.plugins import folder, installed

CODE = """\
from pydantic import BaseModel, ConfigDict
from dynabench.models import spec
from dynabench.models.backends.base import Alone
from dynabench.models.protocol import ModelOutput

class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")
    says: str = "neutral"
    times: int = 1

class Model(Alone):
    @classmethod
    def open(cls, folder, bulk=False):
        model = cls(spec.card(folder))
        model.said = Options(**spec.read(folder).options).says
        return model

    def predict(self, batch):
        return [ModelOutput({"label": self.said}) for _ in batch]
"""


@pytest.fixture
def parrot(tmp_path):
    """A kind of model from a package of somebody else."""
    with installed(tmp_path / "site", "parrot", CODE, options="kind_parrot.model:Options") as package:
        yield package


def with_options(place, options):
    created = folder(place, "parrot")
    path = created / "model.yaml"
    path.write_text(path.read_text() + yaml.safe_dump({"options": options}))
    return created


def test_an_installed_package_adds_a_kind(parrot, tmp_path):
    assert kinds.kind("parrot").backend == "kind_parrot.model:Model"
    assert "parrot" in kinds.kinds()
    model = catalog.open_model(with_options(tmp_path, {"says": "positive"}))
    assert (model.card.kind, model.card.methods, model.card.inside) == ("parrot", ("occlusion",), True)
    assert model.predict([{"statement": "Hello?"}])[0].answer == {"label": "positive"}


def test_no_package_takes_a_shipped_name(tmp_path):
    with installed(tmp_path / "site", "ngram", CODE):
        assert kinds.kind("ngram").backend == "dynabench.models.backends.ngram:NgramModel"


def test_what_is_no_kind_is_left_out(tmp_path):
    with installed(tmp_path / "site", "odd", CODE) as package:
        (tmp_path / "site" / package / "__init__.py").write_text("kind = 'a text'\n")
        assert "odd" not in kinds.kinds()


@pytest.mark.parametrize(
    ("options", "field"),
    [({"say": "x"}, "options.say"), ({"times": "often"}, "options.times"), ({"says": ["x"]}, "options.says")],
)
def test_wrong_options_are_told_by_name(parrot, tmp_path, options, field):
    with pytest.raises(Invalid) as refused:
        spec.read(with_options(tmp_path, options))
    assert set(refused.value.fields) == {field}


def test_a_kind_without_options_takes_none(copied):
    path = copied("nli-ngram") / "model.yaml"
    path.write_text(path.read_text() + "options: {bits: 12}\n")
    with pytest.raises(Invalid, match="Models of kind 'ngram' have none"):
        spec.read(path.parent)


@pytest.mark.parametrize("name", ["probabilities", "extras"])
def test_an_answer_cannot_take_a_name_that_the_wire_uses(copied, name):
    folder = copied("nli-ngram")
    path = folder / "model.yaml"
    path.write_text(path.read_text().replace("answer: label", f"answer: {name}"))
    with pytest.raises(Invalid, match="something else on the wire"):
        spec.read(folder)


def test_an_unknown_kind_is_answered_with_those_there_are():
    with pytest.raises(Invalid) as refused:
        kinds.kind("adaptor")
    assert refused.value.fields["kind"].startswith("There is no kind 'adaptor'; there are adapter, extractor, ngram")


def test_what_a_kind_needs_is_named_with_how_to_install_it(tmp_path):
    text = "Models of kind 'lacking' need no_such_package: pip install dynabench-platform."
    with installed(tmp_path / "site", "lacking", "import no_such_package\n", options="kind_lacking.model:Options"):
        kind = kinds.kind("lacking")
        for attempt in (kind.opener, lambda: kind.read({}), kind.schema):
            with pytest.raises(Invalid) as refused:
                attempt()
            assert refused.value.fields == {"kind": text}
        with pytest.raises(Invalid, match="need no_such_package"):
            spec.read(folder(tmp_path, "lacking"))


def test_a_missing_module_is_found_before_anything_is_imported(tmp_path):
    kind = kinds.Kind("far", "no_such_package.backend:Model", (), extra="platform")
    assert kind.lacks() == "Models of kind 'far' need no_such_package.backend: pip install dynabench-platform."
    with pytest.raises(Invalid, match="no_such_package"):
        kind.opener()
    assert kinds.kind("ngram").lacks() == ""


def test_the_table_is_read_without_importing_a_backend():
    code = "import sys; from dynabench.models import kinds; [k.lacks() for k in kinds.kinds().values()]\n"
    code += "print([m for m in sys.modules if m.startswith(('torch', 'transformers', 'onnxruntime', 'safetensors'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

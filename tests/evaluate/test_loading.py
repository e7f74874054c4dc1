"""`load` and its companions: by name, by file, from other packages; errors that name what is near."""

import subprocess
import sys
from pathlib import Path

import pytest

from dynabench import evaluate
from dynabench.evaluate import loading
from tests.plugins import on_path

OWN = '''
"""A measure of one's own."""

from dynabench.evaluate.card import Card, CardExample, Output
from dynabench.evaluate.columns import Numbers
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums


class Halved(Metric):
    """Half the mean."""

    card = Card(
        "Half the mean of the predictions.", "m / 2", {"predictions": "numbers"},
        (Output("half", "half the mean"),), (CardExample("Two", {"predictions": [2, 4]}, {"half": 1.5}),),
        "None.", "Ours.",
    )
    columns = {"predictions": Numbers()}

    def update(self, predictions, references=None):
        return Sums(predictions)

    def formula(self, total, *, twice=False):
        return {"half": total[..., 0] / total[..., -1] / (1 if twice else 2)}
'''


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "halved.py"
    path.write_text(OWN)
    return path


def test_a_name_loads_the_module_with_its_defaults():
    module = evaluate.load("f1", average="macro")
    assert module.name == "f1"
    assert module.module_type == "metric"
    assert module.compute(predictions=[0, 1, 2], references=[0, 1, 1]) == {"f1": pytest.approx(5 / 9)}
    assert module.compute(predictions=[0, 1], references=[0, 1], average="micro") == {"f1": 1.0}


def test_a_misspelt_name_is_answered_with_the_nearest_ones():
    with pytest.raises(ValueError, match="did you mean accuracy"):
        evaluate.load("acuracy")


def test_an_unknown_kind_config_or_option_is_named():
    with pytest.raises(ValueError, match="metric, measurement, comparison"):
        evaluate.load("accuracy", module_type="measure")
    with pytest.raises(ValueError, match="no config 'multi'"):
        evaluate.load("f1", "multi")
    with pytest.raises(TypeError, match="'averag' is none of them"):
        evaluate.load("f1", averag="macro")
    with pytest.raises(TypeError, match="'average' is none of them"):
        evaluate.load("accuracy").compute(predictions=[1], references=[1], average="macro")


def test_a_file_and_a_folder_with_a_file_of_its_name_are_modules(own, tmp_path):
    assert evaluate.load(str(own)).compute(predictions=[2, 4]) == {"half": 1.5}
    folder = tmp_path / "folder" / "halved"
    folder.mkdir(parents=True)
    (folder / "halved.py").write_text(OWN)
    module = evaluate.load(str(folder), twice=True)
    assert module.compute(predictions=[2, 4]) == {"half": 3.0}
    assert module.compute(predictions=[2, 4, 9], interval=0.9)["interval"]["half"]["level"] == 0.9


@pytest.mark.parametrize("name", ["halved.v2.py", "seqeval.v2.py", ".halved.py"])
def test_a_file_with_dots_in_its_name_is_a_module(tmp_path, name):
    (tmp_path / name).write_text(OWN)
    module = evaluate.load(str(tmp_path / name))
    assert module.compute(predictions=[2, 4]) == {"half": 1.5}
    assert module.name == name.removesuffix(".py").replace(".", "_")


def test_a_file_without_a_module_or_with_two_is_refused(tmp_path):
    path = tmp_path / "nothing.py"
    path.write_text("x = 1\n")
    with pytest.raises(ValueError, match="one public class of a module, it has 0"):
        evaluate.load(str(path))


def test_an_installed_package_brings_modules_by_entry_point(own, tmp_path):
    (tmp_path / "halves.py").write_text(
        "from dynabench.kit.hooks import hookimpl\n\n@hookimpl\ndef dynabench_evaluation_modules():\n"
        "    return {'metric': {'halved': 'halved'}, 'comparison': {'halving': 'halved:Halved'}}\n"
    )
    with on_path(tmp_path, "halves"):
        assert "halved" in evaluate.list_evaluation_modules("metric")
        assert "halved" not in evaluate.list_evaluation_modules("metric", include_community=False)
        assert evaluate.load("halved").compute(predictions=[4]) == {"half": 2.0}
        with pytest.raises(ValueError, match="is a metric, not a comparison"):
            evaluate.load("halving")


def test_a_plug_in_that_names_a_module_that_is_not_there_is_told_apart_from_one_that_lacks_a_library(tmp_path):
    (tmp_path / "gone.py").write_text(
        "from dynabench.kit.hooks import hookimpl\n\n@hookimpl\ndef dynabench_evaluation_modules():\n"
        "    return {'metric': {'gone': 'gone_away.metrics', 'poor': 'poor'}}\n"
    )
    (tmp_path / "poor.py").write_text("import no_such_library\n")
    with on_path(tmp_path, "gone"):
        with pytest.raises(ValueError, match=r"the plug-in's module gone_away\.metrics is not there"):
            evaluate.load("gone")
        with pytest.raises(ModuleNotFoundError, match="no_such_library"):
            evaluate.load("poor")


def test_the_list_tells_kinds_and_details():
    details = evaluate.list_evaluation_modules(with_details=True)
    assert {"name": "accuracy", "type": "metric", "community": False, "likes": 0} in details
    assert set(evaluate.list_evaluation_modules("metric")) >= {"accuracy", "f1"}
    assert len(details) == len(list(loading.builtin_modules()))


def test_inspect_copies_the_file(tmp_path):
    evaluate.inspect_evaluation_module("accuracy", str(tmp_path / "copy"))
    assert evaluate.load(str(tmp_path / "copy" / "accuracy.py")).compute(predictions=[1], references=[1]) == {
        "accuracy": 1.0
    }


def test_several_processes_are_told_how_states_merge():
    with pytest.raises(ValueError, match=r"module\.merge"):
        evaluate.load("accuracy", num_process=2, process_id=0)


def test_compute_forgets_what_was_added_and_arrays_may_be_reused():
    import numpy as np

    module = evaluate.load("accuracy")
    batch = np.array([1, 1, 0])
    for value in (1, 0):
        batch[:] = value
        module.add_batch(predictions=batch, references=np.array([1, 1, 1]))
    assert len(module) == 6
    assert module.compute() == {"accuracy": 0.5}
    with pytest.raises(ValueError, match="needs predictions and references"):
        module.compute()


def test_module_tells_what_it_takes():
    module = evaluate.load("accuracy")
    assert list(module.features) == ["predictions", "references"]
    assert module.description == module.card.description
    assert "sample_weight" in module.inputs_description
    assert module.citation
    assert "references" in repr(module)


def test_an_unknown_kind_is_not_an_empty_list():
    with pytest.raises(ValueError, match="there are metric, measurement, comparison"):
        evaluate.list_evaluation_modules("metrics")


@pytest.mark.release
def test_a_file_of_ones_own_does_not_hide_an_installed_package_of_its_name(tmp_path):
    """In a fresh process: an import of `seqeval` after `load("x/seqeval.py")` means the package."""
    (tmp_path / "seqeval.py").write_text(OWN)
    code = f"""
from dynabench.evaluate import load
assert load({str(tmp_path / "seqeval.py")!r}).compute(predictions=[2, 4])["half"] == 1.5
import seqeval.metrics
assert {str(tmp_path)!r} not in seqeval.__file__
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

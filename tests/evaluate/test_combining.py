"""Several modules as one."""

import pytest

from dynabench.evaluate import combine, load

ROWS = {"predictions": [0, 1, 1, 0], "references": [0, 1, 0, 0]}


def test_keys_of_all_modules_stand_side_by_side():
    assert combine(["accuracy", "f1"]).compute(**ROWS) == {"accuracy": 0.75, "f1": pytest.approx(2 / 3)}


def test_each_module_keeps_its_own_options():
    macro, micro = load("f1", average="macro"), load("f1", average="micro")
    result = combine({"macro": macro, "micro": micro}).compute(**ROWS)
    assert result == {"macro_f1": pytest.approx(11 / 15), "micro_f1": 0.75}


def test_an_option_goes_to_the_modules_that_know_it_and_a_stray_one_is_refused():
    both = combine(["accuracy", "f1"])
    assert both.compute(**ROWS, average="micro") == {"accuracy": 0.75, "f1": 0.75}
    with pytest.raises(TypeError, match="none of accuracy, f1 takes beta"):
        both.compute(**ROWS, beta=2)


def test_modules_of_one_name_are_told_apart_by_number():
    result = combine([load("f1", average="macro"), load("f1", average="micro")]).compute(**ROWS)
    assert result == {"f1_0_f1": pytest.approx(11 / 15), "f1_1_f1": 0.75}


def test_a_prefix_can_be_forced():
    assert combine(["accuracy"], force_prefix=True).compute(**ROWS) == {"accuracy_accuracy": 0.75}


def test_rows_and_batches_reach_all_modules():
    both = combine(["accuracy", "f1"])
    both.add(prediction=0, reference=0)
    both.add_batch(predictions=[1, 1, 0], references=[1, 0, 0])
    assert both.compute() == combine(["accuracy", "f1"]).compute(**ROWS)


def test_intervals_and_scores_per_example_keep_their_keys():
    result = combine([load("f1", average="macro"), load("f1", average="micro")]).compute(**ROWS, interval=0.9)
    assert set(result["interval"]) == {"f1_0_f1", "f1_1_f1"}
    both = combine(["accuracy"]).compute(**ROWS, per_example=True)
    assert both["per_example"] == {"accuracy": [1.0, 1.0, 0.0, 1.0]}


def test_nothing_to_combine_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        combine([])


def test_names_of_a_mapping_stand_only_before_shared_keys_unless_forced():
    named = {"a": "accuracy", "b": "f1"}
    assert set(combine(named).compute(**ROWS)) == {"accuracy", "f1"}
    assert set(combine(named, force_prefix=True).compute(**ROWS)) == {"a_accuracy", "b_f1"}

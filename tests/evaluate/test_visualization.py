"""Pictures of results: what is drawn, that it can be drawn, and what cannot be."""

import json
import sys

import matplotlib
import numpy as np
import pytest

from dynabench.evaluate import compare
from dynabench.evaluate.visualization import (
    confusion_heat_map,
    intervals_plot,
    radar_plot,
    reliability_diagram,
    scores_histogram,
)
from dynabench.stats.rates import wilson

matplotlib.use("Agg")
rng = np.random.default_rng(0)
SURE = rng.random(200)
MODELS = [{"accuracy": 0.9, "f1": 0.8, "latency": 12.0}, {"accuracy": 0.7, "f1": 0.85, "latency": 4}]
SPECS = {
    "confusion": confusion_heat_map([[5, 1], [0, 4]], ["cat", "dog"], "Cats are sometimes taken for dogs"),
    "wide confusion": confusion_heat_map(np.eye(25)),
    "reliability": reliability_diagram(SURE, rng.random(200) < SURE),
    "histogram": scores_histogram(rng.normal(size=300)),
    "few scores": scores_histogram([0, 1, 1, 1], "accuracy"),
    "one score": scores_histogram([0.5]),
    "intervals": intervals_plot({"a": {"score": 0.7, "low": 0.6, "high": 0.8, "n": 90}}, "accuracy"),
    "differences": intervals_plot({"a - b": {"difference": 0.1, "low": -0.1, "high": 0.2}}),
}


@pytest.fixture
def pyplot():
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_is_plain_valid_and_can_be_drawn(name):
    import altair
    import vl_convert

    spec = json.loads(json.dumps(SPECS[name], allow_nan=False))
    altair.LayerChart.from_dict(spec)
    assert "<svg" in vl_convert.vegalite_to_svg({**spec, "width": 300})
    assert spec["description"]


def rows(spec):
    return spec["data"]["values"]


def test_a_heat_map_shades_by_share_of_the_row_and_writes_numbers():
    cells = {(cell["reference"], cell["prediction"]): cell for cell in rows(SPECS["confusion"])}
    assert {key: cell["label"] for key, cell in cells.items()} == {
        ("cat", "cat"): "5",
        ("cat", "dog"): "1",
        ("dog", "cat"): "0",
        ("dog", "dog"): "4",
    }
    assert cells["cat", "dog"]["share"] == pytest.approx(1 / 6)
    assert cells["cat", "dog"]["tip"] == "cat predicted as dog: 1 of 6 (16.7%)"
    assert SPECS["confusion"]["title"]["text"] == "Cats are sometimes taken for dogs"
    drawn = [layer["mark"]["type"] for layer in SPECS["wide confusion"]["layer"]]
    assert drawn == ["rect"], "numbers of 25 classes would not be readable"


def test_a_class_that_no_reference_has_gets_an_empty_row():
    assert [cell["share"] for cell in rows(confusion_heat_map([[3, 0], [0, 0]]))] == [1, 0, 0, 0]


def test_a_reliability_diagram_has_the_rate_of_each_bin_with_its_interval():
    spec = reliability_diagram([0.0, 0.05, 0.32, 1.0, 0.95], [0, 1, 1, 1, 0], bins=10)
    first, second, last = rows(spec)
    assert (first["sure"], first["value"], first["n"]) == (0.025, 0.5, 2)
    assert (second["low"], second["high"]) == (wilson(1, 1).low, wilson(1, 1).high)
    assert (last["sure"], last["n"]) == (0.975, 2)


def test_a_histogram_counts_each_score_once():
    bars = rows(SPECS["histogram"])
    assert sum(bar["n"] for bar in bars) == 300
    assert [a["high"] for a in bars[:-1]] == [b["low"] for b in bars[1:]]
    assert [(bar["n"], bar["tip"]) for bar in rows(SPECS["few scores"])] == [(1, "0: 1 of 4"), (3, "1: 3 of 4")]
    mean = SPECS["few scores"]["layer"][1]["data"]["values"][0]
    assert mean == {"mean": 0.75, "tip": "mean 0.75"}


def test_the_systems_and_pairs_of_a_comparison_can_be_drawn_as_they_are():
    comparison = compare({"a": [1, 0, 1, 1], "b": [1, 1, 0, 1]}, [1, 0, 1, 0], resamples=50)
    assert [row["name"] for row in rows(intervals_plot(comparison["systems"]))] == list(comparison["systems"])
    spec = intervals_plot({"a - b": comparison["pairs"][0]})
    assert rows(spec)[0]["value"] == comparison["pairs"][0]["difference"]
    assert {"x": {"datum": 0}} in [layer["encoding"] for layer in spec["layer"]]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: confusion_heat_map([[1, 2]]), "as many rows as columns"),
        (lambda: confusion_heat_map([[1, -2], [0, 0]]), "0 or more"),
        (lambda: confusion_heat_map([[1, 2], [0, 0]], ["a", "a"]), "a label of its own"),
        (lambda: reliability_diagram([1.5], [1]), "from 0 to 1"),
        (lambda: reliability_diagram([0.5], [2]), "from 0 to 1"),
        (lambda: reliability_diagram([0.5, 0.6], [1]), "from 0 to 1"),
        (lambda: reliability_diagram([], []), "nothing to draw"),
        (lambda: scores_histogram([0.5, None]), "row 1 is missing"),
        (lambda: scores_histogram([]), "nothing to draw"),
        (lambda: intervals_plot({}), "nothing to draw"),
        (lambda: intervals_plot({"a": {"score": 0.5, "low": None, "high": 1}}), "a needs a value"),
    ],
)
def test_what_cannot_be_drawn_is_told(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


# The radar plot


def lines_of(fig):
    return {line.get_label(): line for line in fig.axes[0].get_lines()}


@pytest.mark.release
@pytest.mark.usefixtures("pyplot")
def test_the_legend_of_a_radar_plot_has_the_models_names():
    fig = radar_plot(MODELS, ["model 1", "model 2"])
    assert [text.get_text() for text in fig.axes[0].get_legend().get_texts()] == ["model 1", "model 2"]


@pytest.mark.usefixtures("pyplot")
def test_each_metric_has_its_own_scale_a_tenth_beyond_the_values():
    lines = lines_of(radar_plot(MODELS, ["one", "two"]))
    outer, inner = 1.1 / 1.2, 0.1 / 1.2
    assert lines["one"].get_ydata() == pytest.approx([outer, inner, outer, outer])
    assert lines["two"].get_ydata() == pytest.approx([inner, outer, inner, inner])


@pytest.mark.usefixtures("pyplot")
def test_an_inverted_metric_puts_less_outside_and_labels_its_scale_so():
    fig = radar_plot(MODELS, ["one", "two"], invert_range=["latency"])
    assert lines_of(fig)["two"].get_ydata()[2] == pytest.approx(1.1 / 1.2)
    scale = [float(text.get_text()) for text in fig.axes[0].texts][-2:]
    assert scale == pytest.approx([12.8 - 9.6 / 3, 12.8 - 2 * 9.6 / 3])


@pytest.mark.usefixtures("pyplot")
def test_models_that_are_equal_in_a_metric_stand_half_way():
    fig = radar_plot([{"a": 0.5, "b": 0.0, "c": 1}] * 2, ["one", "two"])
    assert lines_of(fig)["one"].get_ydata() == pytest.approx([0.5] * 4)


def test_a_radar_plot_draws_on_the_figure_that_it_is_given(pyplot):
    fig = pyplot.figure()
    assert radar_plot(MODELS, ["one", "two"], fig=fig) is fig
    fig.canvas.draw()


@pytest.mark.usefixtures("pyplot")
def test_the_look_of_a_radar_plot_can_be_changed():
    config = {"marker": "s", "theta_tick_lbls_txt_wrap": 4, "rgrid_tick_lbls_args": {"fontsize": 7}}
    fig = radar_plot([{"a long name": 1, "b": 2}], ["one"], config=config)
    assert lines_of(fig)["one"].get_marker() == "s"
    assert fig.axes[0].get_xticklabels()[0].get_text() == "a\nlong\nname"
    assert {text.get_fontsize() for text in fig.axes[0].texts} == {7}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "at least one"),
        ((MODELS, ["one"]), "one name for each model"),
        (([{"a": 1}, {"b": 1}], ["one", "two"]), "two has b, one has a"),
        (([{"a": float("nan")}], ["one"]), "a of one is nan"),
        (([{"a": "high"}], ["one"]), "finite numbers"),
        ((MODELS, ["one", "two"], ["speed"]), "invert_range names speed"),
        ((MODELS, ["one", "two"], [], {"colour": 1}), "config knows no colour"),
    ],
)
def test_what_a_radar_plot_cannot_draw_is_told(arguments, message):
    with pytest.raises(ValueError, match=message):
        radar_plot(*arguments)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        radar_plot(MODELS, ["one", "two"])

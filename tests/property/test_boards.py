"""From rows to ranks: any board, with any weights, of models that answered the rows of some data sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.stats import dynascore, guarded_dynascore
from dynabench.stats.averages import average_over_datasets, dataset_shares
from dynabench.stats.bootstrap import mean_replicates
from dynabench.stats.dynascore import exchange_rates, guarded_exchange_rates
from dynabench.stats.ranks import rank_intervals, weighted_replicates

METRICS = ("accuracy", "error", "memory")
DIRECTIONS = {"error": -1, "memory": -1}
TIMES = 60
FORMS = {"exact": (dynascore, exchange_rates), "guarded": (guarded_dynascore, guarded_exchange_rates)}


class World:
    """Models' answers to the rows of data sets, and what is stored of them."""

    def __init__(self, seed, models, datasets, rows):
        rng = np.random.default_rng(seed)
        self.names = [f"model {number}" for number in range(models)]
        self.datasets = [f"data {number}" for number in range(datasets)]
        skills = rng.choice([0.2, 0.5, 0.5, 0.9], models)
        self.right = {name: rng.random((models, rows)) < skills[:, None] for name in self.datasets}
        self.wrong = {name: rng.random((models, rows)) < 0.3 for name in self.datasets}
        self.memory = rng.choice([1.0, 2.0, 5.5], models)

    def copy(self, model):
        """The same model once more, under another name."""
        self.names.append("copy")
        for answers in (self.right, self.wrong):
            for name in self.datasets:
                answers[name] = np.vstack([answers[name], answers[name][model]])
        self.memory = np.append(self.memory, self.memory[model])

    def scores(self):
        return {
            model: {
                name: {
                    "accuracy": float(self.right[name][place].mean()),
                    "error": float(self.wrong[name][place].mean()),
                    "memory": float(self.memory[place]),
                }
                for name in self.datasets
            }
            for place, model in enumerate(self.names)
        }

    def replicates(self):
        """Shape (B, M, K, D), the costs constant."""
        result = np.empty((TIMES, len(self.names), 3, len(self.datasets)), np.float32)
        for d, name in enumerate(self.datasets):
            for place in range(len(self.names)):
                result[:, place, 0, d] = mean_replicates(self.right[name][place], name, TIMES)
                result[:, place, 1, d] = mean_replicates(self.wrong[name][place], name, TIMES)
                result[:, place, 2, d] = self.memory[place]
        return result

    def board(self, form, weights, dataset_weights):
        """Scores and rank intervals."""
        score, rates = FORMS[form]
        share, table = (
            dataset_shares(self.scores(), dataset_weights),
            average_over_datasets(self.scores(), dataset_weights),
        )
        result, rate = score(table, "accuracy", weights, DIRECTIONS), rates(table, "accuracy", weights, DIRECTIONS)
        coefficients = [
            [rate.get(metric, 0.0) * share[metric].get(name, 0.0) for name in self.datasets] for metric in METRICS
        ]
        drawn = weighted_replicates(self.replicates(), coefficients)
        return result, drawn, rank_intervals([result[model] for model in self.names], drawn)


worlds = st.builds(World, st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 3), st.integers(1, 25))
weighings = st.fixed_dictionaries({metric: st.integers(0, 5) for metric in METRICS}).filter(
    lambda item: any(item.values())
)
forms = st.sampled_from(sorted(FORMS))


@given(worlds, weighings, forms, st.data())
@settings(deadline=None)
def test_two_copies_of_a_model_share_a_rank_on_every_board(world, weights, form, data):
    model = data.draw(st.integers(0, len(world.names) - 1))
    view = data.draw(st.fixed_dictionaries({name: st.integers(0, 3) for name in world.datasets}))
    world.copy(model)
    result, drawn, ranks = world.board(form, weights, view if any(view.values()) else None)
    assert result["copy"] == result[world.names[model]]
    assert np.array_equal(drawn[:, model], drawn[:, -1])
    assert ranks[model] == ranks[-1]
    assert ranks[-1].high > ranks[-1].low


@pytest.mark.release
@given(worlds, weighings, forms)
@settings(deadline=None)
def test_a_boards_replicates_are_its_score_of_each_sample_at_the_boards_rates(world, weights, form):
    _, drawn, _ = world.board(form, weights, None)
    rate = FORMS[form][1](average_over_datasets(world.scores()), "accuracy", weights, DIRECTIONS)
    stored = world.replicates().astype(float)
    for sample in (0, TIMES - 1):
        scores = {
            model: {
                name: dict(zip(METRICS, stored[sample, place, :, d].tolist(), strict=True))
                for d, name in enumerate(world.datasets)
            }
            for place, model in enumerate(world.names)
        }
        expected = [
            sum(rate[metric] * its[metric] for metric in rate) for its in average_over_datasets(scores).values()
        ]
        size = 1 + sum(abs(factor) for factor in rate.values())
        assert drawn[sample] == pytest.approx(expected, abs=1e-6 * size)

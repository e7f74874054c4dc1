"""The loop that trains adapters and extractors alike: which weights it leaves behind."""

import random

import numpy as np
import pytest
import torch

from dynabench.models.training import adapter, recipes


def fitted(average, start=3.0):
    """Values that a parameter had after each step towards zero, and the one that it ends with."""
    parameter, values = torch.nn.Parameter(torch.tensor([start])), []
    settings = recipes.Adapter(batch=1, epochs=1, average=average, weight_decay=0.0)
    plan = adapter.TrainingSchedule(
        [adapter.TrainingInput((), 0, (True,))] * 10, settings, adapter.TrainingLimits(), random.Random(1)
    )

    def keep(share, loss):
        values.append(float(parameter.detach()))

    adapter.fit([parameter], plan, settings, lambda batch: parameter.square().sum(), keep)
    return values, float(parameter.detach())


def test_a_model_keeps_its_last_weights_or_the_mean_of_late_ones():
    values, last = fitted(0.0)
    assert last == values[-1]
    late, mean = fitted(0.3)
    assert late == values
    assert mean == pytest.approx(np.mean(values[7:]), abs=1e-6)
    assert fitted(1.0)[1] == pytest.approx(np.mean(values), abs=1e-6)

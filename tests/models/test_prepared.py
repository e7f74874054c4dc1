"""Preparation before the first call: afterwards no size of pass is compiled any more."""

import subprocess
import sys
import textwrap

import pytest
import torch

pytestmark = [pytest.mark.release, pytest.mark.models]
SCRIPT = textwrap.dedent("""
    import random
    import torch
    from dynabench.models import catalog
    from dynabench.models.backends.pool import AGAIN, shared_pool

    models = [catalog.open_model(catalog.BUILTIN / f"{task}-minilm") for task in ("sentiment", "hate")]
    rng = random.Random(3)
    with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON_CREATION):
        shared_pool().prepare()
        print("prepared", flush=True)
        for rows in (1, 2, 3, 5, 9, 1, 2):
            for model in models:
                texts = [" ".join(["film"] * rng.randint(1, 100)) for _ in range(rows)]
                calls = [(model, model.prepare({"statement": text})) for text in texts]
                model.answer(calls)
                model._ask(calls, exact=True)
""")


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch was built without oneDNN")
def test_calls_of_any_length_find_their_layers_compiled():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    before, after = run.stdout.split("prepared\n")
    compiled = [line for line in after.splitlines() if "create:cache_miss" in line]
    assert before.count("create:cache_miss") > 100
    assert compiled == []


def test_preparing_ends_when_it_is_no_longer_wanted():
    from dynabench.models import catalog
    from dynabench.models.backends.encoded import AdapterModel
    from dynabench.models.backends.pool import Pool

    pool = Pool("fp32")
    model = AdapterModel.load(catalog.BUILTIN / "sentiment-minilm", pool)
    request = iter([True, True, False])
    pool.prepare(lambda: next(request))
    assert next(request, None) is None
    model.close()
    pool.prepare(lambda: pytest.fail("an empty pool has nothing to prepare"))

"""Repositories of the hub, open evaluations, reports of data, and boards."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from huggingface_hub import CommitOperationAdd, HfApi

from dynabench.client import ApiError, Client
from scripts.screenshot_content.demo import PASSWORD, ROWS, Demo, reviews, wait_for_state

CARD = """---
license: cc-by-4.0
tags: [sentiment, films]
configs:
- config_name: films
  data_files: [{split: train, path: train.csv}, {split: test, path: test.csv}]
task_categories: [text-classification]
---
# Films

Short reviews of films with a label each. People wrote them on this platform, and two others checked each of them.
"""
MODEL_CARD = """---
license: mit
pipeline_tag: text-classification
tags: [sentiment]
---
# Sentiment n-grams

A linear model over character n-grams. It is small and quick, and negation fools it.
"""


def add_repositories(demo: Demo) -> None:
    """Add a dataset and a model with commits, a pull request, a discussion and a tag."""
    hub = HfApi(f"{demo.base}/api/hub", token=demo.annotator.log_in("sofia", PASSWORD))
    data = hub.create_repo("films", repo_type="dataset").repo_id
    for path, content in {"README.md": CARD.encode(), "train.csv": reviews(60), "test.csv": reviews(ROWS)}.items():
        hub.upload_file(path_or_fileobj=content, path_in_repo=path, repo_id=data, repo_type="dataset")
    model = hub.create_repo("sentiment-ngram").repo_id
    hub.upload_file(path_or_fileobj=MODEL_CARD.encode(), path_in_repo="README.md", repo_id=model)
    config = b'{\n  "model_type": "ngram",\n  "labels": ["negative", "positive"],\n  "n": 4\n}\n'
    hub.upload_file(path_or_fileobj=config, path_in_repo="config.json", repo_id=model, commit_message="Add config")
    hub.upload_file(path_or_fileobj=bytes(range(256)) * 4096, path_in_repo="weights.bin", repo_id=model)
    hub.create_tag(model, tag="v1.0", tag_message="First release")
    olga = HfApi(f"{demo.base}/api/hub", token=demo.admin.log_in("olga", PASSWORD))
    changed = MODEL_CARD.replace("negation fools it", "negation and irony fool it") + "\n## Limits\n\nEnglish only.\n"
    olga.create_commit(
        model,
        [
            CommitOperationAdd("README.md", changed.encode()),
            CommitOperationAdd("config.json", config.replace(b"4", b"5")),
        ],
        commit_message="Say what fools the model",
        create_pr=True,
    )
    olga.create_discussion(model, title="Which n-grams?", description="Are they of words or of characters?")
    demo.starts += [f"/hub/datasets/{data}", f"/hub/models/{model}", f"/hub/models/{model}/discussions/1"]
    demo.starts += [f"/hub/models/{model}/commits", f"/hub/models/{model}/files", "/hub/new", "/hub/flags"]
    demo.starts += [f"/hub/datasets/{data}/files/test.csv"]


def publish_module(demo: Demo) -> None:
    """Publish an evaluation module with the command, and flag the model."""
    folder = demo.home / "module"
    folder.mkdir()
    with Client(demo.base) as client:
        token = client.log_in("sofia", PASSWORD, ["read", "annotate"])
    variables = {"HF_ENDPOINT": f"{demo.base}/api/hub", "HF_TOKEN": token, "HF_HOME": str(folder)}
    run_module(folder, variables, "new", "agreement")
    run_module(folder, variables, "publish", "agreement", "sofia/agreement")
    demo.starts += ["/hub?kind=spaces", "/hub/spaces/sofia/agreement", "/hub/spaces/sofia/agreement/compute"]
    demo.starts += ["/hub/models/sofia/sentiment-ngram/flag"]


def evaluate_openly(demo: Demo) -> None:
    """Evaluate two models on an uploaded file, and wait for their board."""
    path = demo.home / "films.csv"
    path.write_bytes(reviews(ROWS))
    dataset = demo.admin.upload_rows(str(path))
    evaluation = demo.admin.evaluate_openly(dataset, ["sentiment-ngram", "sentiment-minilm"])
    wait_for_state(lambda: demo.admin.open_evaluation(evaluation["id"]))
    with suppress(ApiError):
        demo.admin.request("POST", f"/open-evaluations/{evaluation['id']}/cards")
    demo.starts += [f"/open-evaluations/{evaluation['id']}", f"/open-evaluations/new?dataset={dataset}"]
    demo.starts += ["/open-evaluations/new?dataset=dataset%3Asentiment%2Fround-1", "/open-evaluations"]


def measure_data(demo: Demo) -> None:
    """Measure a file of rows, and the rows of a released round."""
    source = demo.admin.upload_data(str(demo.home / "films.csv"))
    for data in (source, "dataset:sentiment/round-1"):
        report = demo.admin.measure_data(data)
        wait_for_state(lambda id=report["id"]: demo.admin.data_report(id))
        demo.starts.insert(0, f"/data-reports/{report['id']}")
    demo.starts.append("/data-reports")


def save_boards(demo: Demo) -> None:
    """Take a snapshot of a leaderboard and save one's own, and name the page of an evaluation."""
    [evaluation, *_] = demo.admin.request("GET", "/tasks/nli/evaluations")["items"]
    demo.starts.append(f"/evaluations/{evaluation['id']}")
    shot = demo.admin.request("POST", "/tasks/nli/snapshots", json={"title": "Before the summer"})
    fork = demo.admin.request("POST", "/tasks/nli/forks", json={"title": "Accuracy alone"})
    report = [{"datasets": [{"dataset": "Round 1", "sota": {"rows": [
        {"model_name": "RoBERTa-large", "metrics": {"Accuracy": "88.1"}}]}}]}]  # fmt: skip
    demo.admin.request("POST", "/tasks/nli/reported", json={"source": "https://example.org/tables", "document": report})
    demo.admin.request("POST", "/tasks/nli/datasets/round-1/twins", json={"axis": "robustness"})
    demo.starts += [f"/snapshots/{shot['slug']}", f"/forks/{fork['slug']}", "/tasks/nli/reported"]
    demo.starts += [
        "/tasks/nli/datasets/round-1/twins",
        "/tasks/nli/datasets/round-1/best",
        "/models/nli-minilm/scores",
    ]


def run_module(folder: Path, variables: dict[str, str], *arguments: str) -> None:
    """Run `dynabench module` in a folder."""
    command = [sys.executable, "-m", "dynabench", "module", *arguments]
    subprocess.run(command, cwd=folder, env=os.environ | variables, check=True, capture_output=True)

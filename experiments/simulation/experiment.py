"""One experiment from start to end: run its missing rounds, compute the figures, write the report."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.simulation import figures, findings, report, rounds, task_data, text_vectors
from experiments.simulation.history import ExperimentHistory
from experiments.simulation.plan import ExperimentPlan
from experiments.simulation.text_vectors import ProgressCallback


@dataclass(frozen=True)
class ExperimentResult:
    """A finished experiment; `seconds` are its times, the only values that differ between equal runs."""

    plan: ExperimentPlan
    figures: figures.Figures
    seconds: dict[str, float]

    @property
    def sentences(self) -> list[str]:
        """Return the findings in words."""
        return findings.list_findings(self.figures)


def run_experiment(
    plan: ExperimentPlan, data_folder: Path, folder: Path, report_progress: ProgressCallback
) -> ExperimentResult:
    """Run the missing rounds of a task and store its figures.

    Rounds and figures are stored in FOLDER/TASK, the texts' vectors in FOLDER/embeddings.
    """
    report_progress("reading", 0.0)
    data = task_data.load_task_data(plan.task, data_folder, plan.pool, plan.suite)
    task_folder, vector_folder = folder / plan.task, folder / "embeddings"
    rounds.run_rounds(plan, data, task_folder, vector_folder, report_progress)
    report_progress("measuring", 1.0)
    history = ExperimentHistory.read(plan, data, task_folder)
    texts = [data.pool.texts[row][-1] for row in history.collected_rows]
    vectors = text_vectors.load_vectors(texts, vector_folder, report_progress)
    values = figures.compute_figures(history, vectors)
    (task_folder / "results.json").write_text(json.dumps(values, indent=1) + "\n", "utf-8")
    return ExperimentResult(plan, values, _sum_seconds(task_folder))


def write_report(results: Sequence[ExperimentResult], path: Path) -> None:
    """Write one report on the experiments of all tasks to `path`."""
    report.write([result.figures for result in results], {result.plan.task: result.seconds for result in results}, path)


def _sum_seconds(folder: Path) -> dict[str, float]:
    """Compute the mean and the longest time of a seed, and the time of embedding.

    A round that was started twice counts once.
    """
    entries = [json.loads(line) for line in (folder / "seconds.jsonl").read_text("utf-8").splitlines()]
    by_round = {(entry["seed"], entry["round"]): entry["seconds"] for entry in entries if "seed" in entry}
    by_seed: dict[int, float] = defaultdict(float)
    for (seed, _), seconds in by_round.items():
        by_seed[seed] += seconds
    embedding = sum(entry["embedding"] for entry in entries if "embedding" in entry)
    return {"seed": sum(by_seed.values()) / len(by_seed), "longest": max(by_seed.values()), "embedding": embedding}

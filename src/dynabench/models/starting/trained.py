"""The first weights of a linear model, fitted by scikit-learn to the words that the task's options suggest."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from dynabench.kit.errors import Invalid
from dynabench.models import spec
from dynabench.models.starting import described
from dynabench.models.starting.described import cues
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice

TOGETHER = 3
"""Words of a training text."""
BODY = """\
The weights are those of a scikit-learn pipeline, stored without pickle. Fit one on your own rows:

```python
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from dynabench.models import fitted

pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(C=10, max_iter=1000))
pipeline.fit(texts, labels)  # of a row with several inputs, the texts joined by a space
fitted.save(Path("{name}-2"), pipeline, task="{task}", inputs={inputs}, answer="{answer}", licence="...")
```
"""


def linear(name: str, config: TaskConfig, folder: Path) -> None:
    """Fit and write the folder; raises `Invalid` for a task without options to choose from."""
    field, _ = described.returned(config)
    if not isinstance(field, Choice):
        raise Invalid({"kind": f"A linear model chooses among labels; {config.id} has none."})
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from dynabench.models import fitted

    rows = [(" ".join(part), label) for label, found in cues(field).items() for part in _parts(found)]
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10.0, max_iter=500))
    pipeline.fit([text for text, _ in rows], [label for _, label in rows])
    told = described.facts(name, config, "linear", {}, summary=f"First weights for {config.name}.")
    kept = {key: told[key] for key in ("task", "inputs", "answer", "licence", "languages", "summary")}
    fitted.save(folder, pipeline, **kept, data=["the names and descriptions of the task's options"])
    written: dict[str, Any] = yaml.safe_load((folder / spec.FILE).read_text(encoding="utf-8"))
    (folder / spec.FILE).write_text(described.text(written), encoding="utf-8")
    (folder / "README.md").write_text(described.readme_text(written, BODY.format_map(written)), encoding="utf-8")


def _parts(words: Sequence[str]) -> Iterator[Sequence[str]]:
    for at in range(0, len(words), TOGETHER):
        yield words[at : at + TOGETHER]

"""garak's `report.jsonl` and `hitlog.jsonl`: prompts, and which detectors say that the model failed on them."""

from pathlib import Path
from typing import Any

from dynabench.adversaries.reports import AttackFinding, AttackReport, SkippedEntry
from dynabench.intake.reader import read_objects
from dynabench.kit.errors import Invalid

COMPLETE = 2
"""The status of an attempt that detectors have looked at; it was written before without."""
HIT = 0.5
"""From this score on a detector says that the model failed; garak's own threshold."""


def read(path: Path) -> AttackReport:
    """The prompts on which the model failed as proposals. Raises `Invalid` for another file."""
    result: dict[str, AttackFinding] = {}
    remaining: list[SkippedEntry] = []
    version, generator, entries = "unknown", "", False
    for number, entry in read_objects(path):
        at = f"line {number}"
        kind = entry.get("entry_type", "hit" if "attempt_id" in entry else "")
        entries = entries or kind in ("init", "attempt", "hit", "start_run setup")
        if kind == "init":
            version = str(entry.get("garak_version", version))
        elif kind == "start_run setup":
            generator = _generator(entry)
        elif kind == "hit" or (kind == "attempt" and entry.get("status") == COMPLETE):
            created = _read(at, entry, generator)
            if isinstance(created, SkippedEntry):
                remaining.append(created)
            else:
                result.setdefault(str(entry.get("uuid") or entry.get("attempt_id") or at), created)
    if not entries:
        raise Invalid({"file": f"{path.name} is no report of garak."})
    return AttackReport("garak", version, list(result.values()), remaining)


def _read(at: str, entry: dict[str, Any], generator: str) -> AttackFinding | SkippedEntry:
    hits = _hits(entry)
    if not hits:
        return SkippedEntry(at, "No detector says that the model failed.")
    message = _prompt_text(entry.get("prompt"))
    if message is None:
        return SkippedEntry(at, "The prompt is no single text: it has several turns, or none in words.")
    outputs = entry.get("outputs") or [entry.get("output")]
    texts = [text for item in outputs if (text := _text(item))]
    facts = {
        "probe": entry.get("probe_classname") or entry.get("probe"),
        "detectors": sorted(hits),
        "score": max(hits.values()),
        "goal": entry.get("goal"),
        "generator": entry.get("generator") or generator,
        "output": texts[0][:500] if texts else None,
    }
    return AttackFinding(at, {"": message}, queries=max(len(outputs), 1), facts={k: v for k, v in facts.items() if v})


def _hits(entry: dict[str, Any]) -> dict[str, float]:
    """The highest score of each detector that says that the model failed."""
    if "attempt_id" in entry:
        return {str(entry.get("detector", "")): float(entry.get("score") or 0.0)}
    scores = entry.get("detector_results") or {}
    best = {
        name: max((float(item) for item in values if item is not None), default=0.0) for name, values in scores.items()
    }
    return {name: score for name, score in best.items() if score >= HIT}


def _prompt_text(prompt: Any) -> str | None:
    """The one text that was said to the model; older versions wrote it as it is."""
    if isinstance(prompt, dict) and "turns" in prompt:
        turns = [_text(turn.get("content")) for turn in prompt["turns"] if turn.get("role") == "user"]
        return turns[0] if len(turns) == 1 and len(prompt["turns"]) == 1 else None
    return _text(prompt)


def _text(message: Any) -> str | None:
    result = message.get("text") if isinstance(message, dict) else message
    return result if isinstance(result, str) and result.strip() else None


def _generator(entry: dict[str, Any]) -> str:
    names = (("plugins.target_type", "plugins.target_name"), ("plugins.model_type", "plugins.model_name"))
    return next((f"{entry[kind]} {entry.get(name) or ''}".strip() for kind, name in names if entry.get(kind)), "")

"""promptfoo's results as JSON (`--output results.json`, `promptfoo export`): tests that a model did not pass."""

import json
from pathlib import Path
from typing import Any

from dynabench.adversaries.reports import AttackFinding, AttackReport, SkippedEntry
from dynabench.kit.errors import Invalid

ERROR = 2
"""The reason of a failure that is none of the model's: the call ended with an error."""


def read(path: Path) -> AttackReport:
    """The tests that were not passed as proposals. Raises `Invalid` for another file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        results = document["results"]["results"]
        version = str((document.get("metadata") or {}).get("promptfooVersion") or "unknown")
        tests = [(f"result {number}", dict(item)) for number, item in enumerate(results, start=1)]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Invalid({"file": f"{path.name} holds no results of promptfoo."}) from None
    result: list[AttackFinding] = []
    remaining: list[SkippedEntry] = []
    for at, test in tests:
        created = _read(at, test)
        (remaining if isinstance(created, SkippedEntry) else result).append(created)  # type: ignore[arg-type]
    return AttackReport("promptfoo", version, result, remaining)


def _read(at: str, test: dict[str, Any]) -> AttackFinding | SkippedEntry:
    if test.get("success"):
        return SkippedEntry(at, "The model passed this test.")
    if test.get("failureReason") == ERROR or (test.get("error") and not test.get("response")):
        return SkippedEntry(at, f"The test ended with an error: {str(test.get('error') or '')[:200]}")
    texts = _texts(test)
    if not texts:
        return SkippedEntry(at, "The test has no text.")
    response, metadata = test.get("response") or {}, test.get("metadata") or {}
    graded = test.get("gradingResult") or {}
    output = response.get("output")
    facts = {
        "plugin": metadata.get("pluginId"),
        "strategy": metadata.get("strategyId"),
        "provider": (test.get("provider") or {}).get("id"),
        "reason": graded.get("reason"),
        "score": test.get("score"),
        "output": output if isinstance(output, str) else json.dumps(output) if output is not None else None,
    }
    plain = {
        name: value[:500] if isinstance(value, str) else value for name, value in facts.items() if value is not None
    }
    return AttackFinding(at, texts, queries=1, cost=max(float(test.get("cost") or 0.0), 0.0), facts=plain)


def _texts(test: dict[str, Any]) -> dict[str, str]:
    """The variables of a test that are texts, else the prompt as it was sent."""
    values = test.get("vars") or (test.get("testCase") or {}).get("vars") or {}
    texts = {name: value for name, value in values.items() if isinstance(value, str) and value.strip()}
    texts = {name: value for name, value in texts.items() if not name.startswith("__") and name != "sessionId"}
    raw = (test.get("prompt") or {}).get("raw")
    return texts or ({"": raw} if isinstance(raw, str) and raw.strip() else {})

"""What the workers of a host say, as if one had said it. Pure functions."""

from collections.abc import Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from dynabench.models.host.wire import UNLOADED

_ORDER = ("READY", "LOADING", "UNAVAILABLE")


def index(found: Sequence[tuple[int, list[dict[str, Any]]]]) -> list[dict[str, Any]]:
    """One entry a model version, in the best state of any worker; `workers` are those where it is loaded.

    It is `cold` while any worker has not loaded it yet, those left out whose operator unloaded it.
    """
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for number, entries in found:
        for entry in entries:
            key = (entry["name"], entry["version"])
            loaded = [number] if entry["state"] == "READY" else []
            other = best.get(key)
            if other is None or _rank(entry) < _rank(other):
                best[key] = entry | {"workers": [*(other or {}).get("workers", []), *loaded]}
            else:
                other["workers"] += loaded
    for key, entry in best.items():
        others = [_cold(key, entries) for _number, entries in found]
        entry["cold"] = any(others)
    return list(best.values())


def _cold(key: tuple[str, str], entries: Sequence[dict[str, Any]]) -> bool:
    for entry in entries:
        if (entry["name"], entry["version"]) == key:
            return bool(entry.get("cold")) and entry.get("reason") != UNLOADED
    return True


def _rank(entry: dict[str, Any]) -> tuple[int, bool]:
    return _ORDER.index(entry["state"]), not entry.get("on_demand")


def figures(own: CollectorRegistry, texts: Sequence[tuple[int, str]]) -> bytes:
    """The front's own figures and those of all workers, each with its `worker`, in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_Labelled(texts))
    return generate_latest(own) + generate_latest(registry)


class _Labelled(Collector):
    """Families of several texts, a label added to each sample."""

    def __init__(self, texts: Sequence[tuple[int, str]]) -> None:
        self._texts = texts

    def collect(self) -> Iterator[Metric]:
        families: dict[str, Metric] = {}
        for number, text in self._texts:
            for family in text_string_to_metric_families(text):
                merged = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                for sample in family.samples:
                    merged.samples.append(sample._replace(labels={**sample.labels, "worker": str(number)}))
        yield from families.values()

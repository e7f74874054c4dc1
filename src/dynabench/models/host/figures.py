"""The figures that the host counts, in Prometheus' text format."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

BATCH_SIZES = tuple(range(1, 33))


class Figures:
    """Counters of one host; every host has its own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)  # its start tells when it was started again
        self.batch_size = Histogram(
            "dynabench_host_batch_size",
            "Calls answered by one forward pass.",
            ["lane"],
            buckets=BATCH_SIZES,
            registry=self.registry,
        )
        self.seconds = Histogram(
            "dynabench_host_batch_seconds",
            "Seconds of one forward pass.",
            ["lane"],
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
            registry=self.registry,
        )
        self.waiting = Gauge(
            "dynabench_host_waiting", "Calls that wait for their turn.", ["lane"], registry=self.registry
        )
        self.refused = self._counter("refused", "Calls refused for overload.")
        self.abandoned = self._counter("abandoned", "Calls whose client left before their turn.")
        self.failed = self._counter("failed", "Calls that a model failed on.")
        self.given_up = self._counter("given_up", "Batches that did not end and were given up.")
        self.explained = Counter(
            "dynabench_host_explanations",
            "Explanations, by whether they were kept from before.",
            ["cache"],
            registry=self.registry,
        )
        self.changes = Counter(
            "dynabench_host_changes", "Models loaded, unloaded and refused.", ["change"], registry=self.registry
        )
        self.memory = Gauge(
            "dynabench_host_memory_bytes",
            "Memory that models and host take by the host's own account.",
            registry=self.registry,
        )

    def _counter(self, name: str, what: str) -> Counter:
        return Counter(f"dynabench_host_{name}", what, ["lane"], registry=self.registry)

    def text(self) -> bytes:
        """The figures as text."""
        return generate_latest(self.registry)

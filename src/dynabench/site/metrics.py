"""Figures for Prometheus: requests by route template, never by address or person."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """One application's figures; each application has its own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        labels = ("method", "route")
        self.requests = Counter(
            "dynabench_requests_total", "Requests answered.", (*labels, "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "dynabench_request_seconds",
            "Time to the end of the answer.",
            labels,
            buckets=SECONDS,
            registry=self.registry,
        )
        self.running = Gauge("dynabench_requests_running", "Requests being answered.", registry=self.registry)

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count one request that was answered with `status` after `seconds`."""
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        route = template(scope)
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)


def template(scope: Scope) -> str:
    """The route's template, such as `/tasks/{task}`; all addresses that nobody serves count as one."""
    path: str | None = getattr(scope.get("route"), "path", None)
    return path or ("/static" if scope["path"].startswith("/static/") else "unmatched")


def show(request: Request) -> Response:
    """The figures in Prometheus' text format."""
    metrics: Metrics = request.app.state.metrics
    return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)

"""The web application: it wires features together and holds no rule.

Nothing that is imported here may import torch: models answer in the host's process.
"""

import asyncio
import importlib
import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from typing import Any, ClassVar

from fastapi import APIRouter, Depends, FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.datastructures import URLPath
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import BaseRoute, NoMatchFound

from dynabench import __version__, web
from dynabench.announcements.api import announced
from dynabench.collection import pages as collection_pages
from dynabench.crowd.pages import load_bar
from dynabench.hubs.uploads import PART_BYTES, identify_sender
from dynabench.hubs.xet.api import identify_sender as identify_xet_sender
from dynabench.hubs.xet.xorbs import MOST_BYTES as XORB_BYTES
from dynabench.kit import heartbeat, jobs, security
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings, get_settings
from dynabench.onboarding import pages as onboarding_pages
from dynabench.pay.pages import load_pay_line
from dynabench.people.accounts import auth
from dynabench.people.notices import events
from dynabench.site import middleware, problems, process_routes
from dynabench.site.admission import Admission, scale
from dynabench.site.cards.calculator import Calculator
from dynabench.site.live.feed import Feed
from dynabench.site.middleware import CleanAddress, Frame
from dynabench.site.process_routes import Description, Readiness
from dynabench.site.request_bodies import BodyLimit
from dynabench.validation import pages as validation_pages
from dynabench.validation import places

FEATURES = (
    "people.accounts",
    "people.accounts.oidc",
    "people.notices",
    "rounds",
    "onboarding",
    "collection",
    "validation",
    "quality",
    "quality.signals",
    "announcements",
    "datasets",
    "datasets.archives",
    "insight.data_measurements",
    "insight.data_reports",
    "benchmark.registry",
    "benchmark.evaluations",
    "benchmark.leaderboards",
    "benchmark.releases",
    "open_evaluations",
    "hubs",
    "hubs.xet",
    "cycle",
    "pay",
    "crowd",
    "communities.classes",
    "communities.teams",
    "communities.competitions",
    "communities.inspiration",
    "communities.credits",
    "site.home",
    "site.live",
    "site.community",
    "recognition.badges",
    "recognition.hall",
    "recognition.profiles",
    "site.admin",
    "site.console",
    "site.cards",
    "site.documentation",
    "site.identity",
    "site.search",
)
PARTS = (
    "api",
    "appeal_api",
    "appeal_pages",
    "submission_api",
    "submission_pages",
    "pages",
    "recovery_pages",
    "card_api",
    "card_pages",
    "settings_pages",
    "published_api",
)
ANNOUNCED = (collection_pages.router, validation_pages.router, onboarding_pages.router)
"""Pages that show what the owners of a task announce, and how far a worker has come."""
FIRST = tuple(f"dynabench.{name}" for name in ("collection.api", "validation.pages", "crowd.pages"))
"""Routes are tried one after the other; these answer many requests, and none of them hides a later one."""
BODY_LIMIT = 256 * 1024
MIB = 1024 * 1024
UPLOADS = {
    r"/api/v1/archives": 2048 * MIB,
    r"/archives": 1024 * MIB,
    r"/api/v1/tasks/[^/]+/contexts/files": 1024 * MIB,
    r"/api/v1/tasks/[^/]+/imports/files": 1024 * MIB,
    r"/api/v1/tasks/[^/]+/datasets/[^/]+/twins/[^/]+/file": 1024 * MIB,
    r"/tasks/[^/]+/datasets/[^/]+/twins/file": 256 * MIB,
    r"/api/v1/tasks/[^/]+/media": 101 * MIB,
    r"/api/v1/evaluate/[^/]+/[^/]+": MIB,
    r"/evaluate/[^/]+/[^/]+": MIB,
    r"/hub/spaces/[^/]+/[^/]+/compute": MIB,
    r"/api/v1/hub/modules/[^/]+/[^/]+/compute": MIB,
    r"/models/[^/]+": 9 * MIB,
    r"/api/v1/tasks/[^/]+/submissions/files": 2048 * MIB,
    r"/tasks/[^/]+/submit": 2048 * MIB,
    r"/tasks/[^/]+/manage/contexts/files": 256 * MIB,
    r"/tasks/[^/]+/manage/data/files": 256 * MIB,
    r"/tasks/[^/]+/manage/controls/files": 16 * MIB,
    r"/tasks/[^/]+/manage/studies/[^/]+/participants/compare": 5 * MIB,
    r"/tasks/[^/]+/reported": 3 * MIB,
    r"/api/hub/api/(models|datasets|spaces)/[^/]+/[^/]+/commit/.+": 256 * MIB,
    r"/api/hub/uploads/[^/]+": PART_BYTES + MIB,
    r"/api/hub/xet/[^/]+/v1/(xorbs/.+|shards)": XORB_BYTES,
    r"/api/v1/tasks/[^/]+/datasets/files": 1024 * MIB,
    r"/tasks/[^/]+/datasets/files": 256 * MIB,
    r"/data-reports": 512 * MIB,
    r"/api/v1/data-reports/files": 1024 * MIB,
    r"/api/v1/open-evaluations/files": 1024 * MIB,
    r"/open-evaluations/files": 256 * MIB,
}
SIGNED = {r"/api/hub/uploads/[^/]+": identify_sender, r"/api/hub/xet/.+": identify_xet_sender}
"""Addresses that say themselves, or with a token of their own, who sends a body there."""
FORMS = {
    r"/tasks/[^/]+/(create|validate/[^/]+)": 64 * MIB,
    r"/examples/[^/]+/explanation": 64 * MIB,
}
"""Pages whose forms bring files along where a task has fields for them, and then come in several parts."""
DOCUMENTS = {
    r"/api/v1/tasks/[^/]+/(contexts|controls)": 5 * MIB,
    r"/api/v1/models/[^/]+/(ask|attributions)": 6 * MIB,
    r"/api/v1/evaluate/[^/]+/[^/]+": MIB,
    r"/api/v1/hub/modules/[^/]+/[^/]+/compute": MIB,
    r"/api/v1/tasks/[^/]+/reported": 3 * MIB,
    r"/api/hub/api/(models|datasets|spaces)/[^/]+/[^/]+/preupload/.+": 2 * MIB,
    r"/api/hub/api/validate-yaml": MIB,
}
"""Routes that take JSON of more than `BODY_LIMIT`: many contexts, pictures within inputs, columns of rows."""
TAGS = [
    {"name": "accounts", "description": "Your account and API tokens."},
    {"name": "admin", "description": "Health, accounts and jobs, for administrators."},
    {
        "name": "onboarding",
        "description": "What a task asks of people before they write or check: reading, practice, a quiz.",
    },
    {"name": "notices", "description": "How you are told of things: pages, mail, webhooks."},
    {"name": "webhooks", "description": "What webhooks get, signed as Standard Webhooks says."},
    {"name": "rounds", "description": "Tasks, rounds, contexts and figures."},
    {"name": "people", "description": "Public profiles, the hall of fame, and badges."},
    {"name": "classes", "description": "Groups of students with a teacher, who join with a code."},
    {"name": "teams", "description": "Teams of people, with their figures."},
    {"name": "competitions", "description": "Teams with the same budget against the same models."},
    {"name": "collection", "description": "Writing examples, and what the models answered."},
    {"name": "validation", "description": "Checking other people's examples."},
    {"name": "datasets", "description": "Exports and imports."},
    {"name": "archives", "description": "Whole tasks as files: written, brought in, cloned."},
    {"name": "models", "description": "Models: their cards, answers and explanations, and who may see them."},
    {"name": "submissions", "description": "Models that people enter to be evaluated."},
    {"name": "evaluations", "description": "Models on datasets: how it goes, scores, signed records."},
    {"name": "open evaluations", "description": "Chosen models on any dataset, outside the tasks."},
    {"name": "leaderboards", "description": "Boards of tasks, snapshots, boards of people's own, the ledger of tries."},
    {"name": "data reports", "description": "Measurements of a file or a dataset, alone or compared with another."},
    {"name": "measures", "description": "What the data of rounds are like."},
    {"name": "releases", "description": "Rounds as files that never change, and what they were divided by."},
    {"name": "cycle", "description": "Turns: a round is released, models learn from it, the best is the next target."},
    {"name": "pay", "description": "Payment schemes of rounds, the ledger of payments, and your own pay."},
    {"name": "crowd", "description": "Studies on crowd platforms, and their workers."},
    {"name": "search", "description": "Finding tasks, models, datasets, metrics, examples and documentation."},
    {"name": "evaluate", "description": "The evaluation library: cards, and results of small inputs."},
]


class App(FastAPI):
    """FastAPI whose OpenAPI document has errors as problem documents, and the scopes that tokens need."""

    document: ClassVar[dict[str, Any]] = {}  # that of every application, once one was asked for it

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, with the schema of problems and each operation's scopes."""
        if App.document:
            return App.document
        document = super().openapi()
        document.setdefault("components", {}).setdefault("schemas", {})["Problem"] = problems.DOCUMENT
        for route in iter_route_contexts(self.routes):
            dependant: Dependant | None = getattr(route, "dependant", None)
            if dependant is None:
                continue
            for method in route.methods or ():
                operation = document["paths"].get(route.path, {}).get(method.lower(), {})
                if "security" in operation:
                    token = {auth.scheme.scheme_name: sorted(auth.scopes_of(dependant, method))}
                    # Where no login is needed a token is looked at all the same.
                    operation["security"] = [token] if auth.needs_login(dependant) else [token, {}]
        App.document = document
        return document

    def url_path_for(self, name: str, /, **path_params: Any) -> URLPath:
        """The address of a route, looked for by name: pages ask for dozens, and the base class tries every route."""
        for route in named().get(name, ()):
            with suppress(NoMatchFound):
                path: URLPath = route.url_path_for(name, **path_params)
                return path
        return super().url_path_for(name, **path_params)


def routers() -> list[APIRouter]:
    """Each feature's JSON API and pages, in the features' order but for the first."""
    names = [f"dynabench.{feature}.{part}" for feature in FEATURES for part in PARTS]
    names = [*FIRST, *(name for name in names if name not in FIRST)]
    return [importlib.import_module(name).router for name in names if importlib.util.find_spec(name)]


@cache
def routes() -> list[BaseRoute]:
    """All routes of the features. Every application of a process has these very ones: FastAPI works out what a route
    needs when it is first looked at, which takes longer for all of them than most requests."""
    together = APIRouter(dependencies=[Depends(security.protect)], responses=problems.ANSWERS)
    for router in (process_routes.router, *routers()):
        page_dependencies = (
            [Depends(announced), Depends(load_bar), Depends(load_pay_line)] if router in ANNOUNCED else None
        )
        together.include_router(router, dependencies=page_dependencies)
    return together.routes


@cache
def named() -> dict[str, list[RouteContext]]:
    """The features' routes by name: pages first, then those of the API, each in the features' order.

    A page and a route of the API may share a name and its parameters; pages and redirects mean the page.
    """
    routes_by_name: dict[str, list[RouteContext]] = {}
    for route in sorted(iter_route_contexts(routes()), key=lambda route: (route.path or "").startswith("/api/")):
        routes_by_name.setdefault(route.name or "", []).append(route)
    return routes_by_name


def create_app(settings: Settings | None = None, host: Any = None) -> FastAPI:
    """The application for these settings; `host` is a client of the model host, by default of `settings`'
    own; the application closes it when it ends."""
    settings = settings or get_settings()
    figures = middleware.Metrics()
    webhooks = APIRouter(responses=problems.ANSWERS)
    webhooks.include_router(events.documented)
    app = App(
        title="Dynabench",
        summary="People try to fool models, other people check the attempts, the checked attempts become benchmarks.",
        version=__version__,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        openapi_url=None,  # `openapi` below sends what was made once
        openapi_tags=TAGS,
        docs_url=None,
        redoc_url=None,
        lifespan=partial(_open_resources, settings=settings, host=host),
        webhooks=webhooks,
        middleware=[
            Middleware(Frame, settings=settings, metrics=figures),
            Middleware(GZipMiddleware, minimum_size=800, compresslevel=5),
            Middleware(CleanAddress),
            Middleware(Admission, *scale(settings)),
            Middleware(BodyLimit, limit=BODY_LIMIT, larger=UPLOADS, forms=FORMS, documents=DOCUMENTS, signed=SIGNED),
        ],
    )
    app.state.settings = settings
    app.state.metrics = figures
    app.state.limiter = security.Limiter()
    app.state.description = Description(app.openapi)
    app.state.readiness = Readiness()
    app.state.live = Feed(app.state)
    app.state.count_checks = places.count_checks
    problems.install(app)
    app.router.routes.extend(routes())
    app.mount("/static", web.static_files(), name="static")
    return app


@asynccontextmanager
async def _open_resources(app: FastAPI, settings: Settings, host: Any) -> AsyncIterator[None]:
    app.state.db = Database(settings.url)
    app.state.host = host or _host(settings)
    app.state.calculator = Calculator()
    beating = asyncio.create_task(heartbeat.follow_loop())
    yield
    beating.cancel()
    await app.state.live.close()
    if chats := getattr(app.state, "chats", None):
        await chats.close()
    await app.state.host.close()
    app.state.calculator.close()
    jobs.release(settings)
    app.state.db.close()


def _host(settings: Settings) -> Any:
    from dynabench.models.client import Host

    return Host.of(settings)

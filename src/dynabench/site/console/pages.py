"""The owner's console: one router per section, under `/tasks/{task}/manage`."""

from fastapi import APIRouter

from dynabench.announcements import manage
from dynabench.benchmark.releases import manage as releases
from dynabench.collection.manage import figures, people
from dynabench.cycle import manage as cycle
from dynabench.datasets.manage import archives, contexts, data
from dynabench.rounds.manage import config, log, settings, webhooks
from dynabench.site.console import rounds
from dynabench.validation.manage import bulk, examples, health

router = APIRouter(include_in_schema=False)

# Each section is a module with a `router` whose page is named `manage_<section>`; see `frame.RAIL`.
SECTIONS = (
    health,
    rounds,
    releases,
    cycle,
    contexts,
    examples,
    figures,
    people,
    data,
    config,
    settings,
    manage,
    archives,
    webhooks,
    log,
)

router.include_router(bulk.router)
for _section in SECTIONS:
    router.include_router(_section.router)

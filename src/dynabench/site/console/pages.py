"""The owner's console: one router per section, under `/tasks/{task}/manage`."""

from fastapi import APIRouter

from dynabench.announcements import manage
from dynabench.benchmark.releases import manage as releases
from dynabench.collection.manage import figures, people
from dynabench.cycle import manage as cycle
from dynabench.datasets import manage_contexts, manage_data
from dynabench.datasets.archives import pages as archives
from dynabench.rounds.manage import config, log, webhooks
from dynabench.site.console import rounds
from dynabench.validation.manage import bulk, examples, health

router = APIRouter(include_in_schema=False)

# Each section is a module with a `router` whose page is named `manage_<section>`; see `frame.RAIL`.
SECTIONS = (
    health,
    rounds,
    releases,
    cycle,
    manage_contexts,
    examples,
    figures,
    people,
    manage_data,
    config,
    manage,
    webhooks,
    log,
)

router.include_router(bulk.router)
router.include_router(archives.console)
for _section in SECTIONS:
    router.include_router(_section.router)

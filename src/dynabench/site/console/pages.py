"""The owner's console: one router per section, under `/tasks/{task}/manage`."""

from fastapi import APIRouter

from dynabench.announcements import manage
from dynabench.benchmark.releases import pages as releases
from dynabench.collection.manage import figures, people
from dynabench.communities.competitions import manage as competitions
from dynabench.crowd import manage as crowd
from dynabench.crowd import manage_panel as panels
from dynabench.crowd import manage_participants as participants
from dynabench.cycle import finish_pages
from dynabench.cycle import manage as cycle
from dynabench.datasets import manage_contexts, manage_data
from dynabench.datasets.archives import pages as archives
from dynabench.quality import manage as quality
from dynabench.quality.signals import manage as signals
from dynabench.rounds.manage import config, log, webhooks
from dynabench.site.console import rounds
from dynabench.validation.controls import manage as controls
from dynabench.validation.manage import bulk, examples, health, validators

router = APIRouter(include_in_schema=False)

# The page of each section is named `manage_<section>`; see `frame.RAIL`.
ROUTERS = (
    bulk.router,
    archives.console,
    health.router,
    rounds.router,
    releases.manage_router,
    cycle.router,
    competitions.router,
    finish_pages.router,
    participants.router,
    crowd.router,
    panels.router,
    manage_contexts.router,
    examples.router,
    figures.router,
    people.router,
    validators.router,
    quality.router,
    controls.router,
    signals.router,
    manage_data.router,
    config.router,
    manage.router,
    webhooks.router,
    log.router,
)
for _router in ROUTERS:
    router.include_router(_router)

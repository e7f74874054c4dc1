"""The owner's console: one router per section, under `/tasks/{task}/manage`."""

from fastapi import APIRouter

from dynabench.console import (
    announcements,
    archives,
    bulk,
    config,
    contexts,
    cycle,
    data,
    examples,
    figures,
    health,
    log,
    moderation,
    people,
    releases,
    rounds,
    settings,
    webhooks,
)

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
    moderation,
    people,
    data,
    config,
    settings,
    announcements,
    archives,
    webhooks,
    log,
)

router.include_router(bulk.router)
for _section in SECTIONS:
    router.include_router(_section.router)

"""Fill a demo with what its history lacks, for screenshots: repositories, evaluations, a study, classes and the like.

All of it is made through the client, the API and the forms, as people make it.
"""

from collections.abc import Iterator

from scripts.screenshot_content import collection, crowd, hub, people
from scripts.screenshot_content.demo import Demo

PARTS = (
    collection.talk,
    collection.report_harms,
    collection.write_examples,
    hub.add_repositories,
    hub.publish_module,
    hub.evaluate_openly,
    hub.measure_data,
    people.open_lesson,
    people.gather_people,
    crowd.run_study,
    crowd.pay_people,
    crowd.check_quality,
    hub.save_boards,
    collection.send_files,
    people.tell_people,
    collection.turn_cycle,
)


def fill(demo: Demo) -> None:
    """Make everything."""
    for part in PARTS:
        print(f"{part.__name__} …", flush=True)
        part(demo)


def account_pages() -> Iterator[str]:
    """Yield pages of accounts that no link of a page leads to."""
    yield from ("/settings/security", "/settings/privacy", "/settings/delete")
    yield from ("/settings/examples", "/settings/credit", "/settings/notifications", "/settings/second-factor")
    yield from (
        "/tasks/new/older",
        "/search?q=nli",
        "/docs",
        "/docs/api",
        "/logged-out",
    )

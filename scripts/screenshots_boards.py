"""Pictures of what evaluation made: boards and the views around them, datasets, submissions."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

TASK = "/tasks/sentiment"
WITHIN = 300  # seconds until the demo's models are scored
PAGES = (
    ("leaderboard", f"{TASK}/leaderboard"),
    ("matrix", f"{TASK}/matrix"),
    ("pareto", f"{TASK}/pareto"),
    ("transfer", f"{TASK}/transfer"),
    ("datasets", "/datasets"),
    ("task-datasets", f"{TASK}/datasets"),
    ("dataset", f"{TASK}/datasets/sentiment-phenomena"),
    ("twins", f"{TASK}/datasets/sentiment-phenomena/twins"),
    ("submit", f"{TASK}/submit?kind=archive"),
    ("model-scores", "/models/sentiment-minilm/scores"),
)


def look(page: Page, shoot: Callable[[Page, str], None]) -> None:
    """As somebody who is logged in, once the demo's models are scored."""
    for _ in range(WITHIN // 3):
        page.goto(f"{TASK}/leaderboard")
        if page.locator('.lb-table tbody tr [data-c="score"]').filter(has_text=".").count() >= 2:
            break
        page.wait_for_timeout(3000)
    for name, path in PAGES:
        page.goto(path)
        shoot(page, name)
    page.goto(f"{TASK}/compare")
    page.get_by_role("button", name="Compare").first.click()
    expect(page.locator("table").first).to_be_visible()
    shoot(page, "compare")

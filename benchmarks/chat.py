"""Two models streamed side by side: the first token in the page, against the models' own first token.

Both are asked the same in turns: once by a person who presses the button in Chromium, once by a program that asks the
models' servers itself, both at the same time. In the page a token counts once it stands in the document.
"""

import json
import os
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
from playwright.sync_api import Page

from benchmarks import language_model
from benchmarks.row import Row
from benchmarks.running import operate, platform, wait_for
from benchmarks.talker import Talker, Voice, folder
from dynabench.client import Client
from dynabench.tasks import shipped
from tests.browser.people import PASSWORD, Guest
from tests.web import gallery

TASK = "chat-preference"
MESSAGE = "What should I see on a rainy day in a town by the sea?"
PAIRS, WARM, TOKENS = 12, 3, 8
BUDGET = 1.2
PATIENCE = 120_000  # milliseconds: only the machine's load makes anything here slow
PACE = 0.2  # seconds before the first word of a paced voice
SEEN = """() => new Promise((done, fail) => {
  const field = document.querySelector("chat-field");
  const found = {};
  const watch = new MutationObserver(() => {
    for (const each of field.querySelectorAll(".chat-turn:last-child [data-side]")) {
      if (each.querySelector("[data-text]").textContent) found[each.dataset.side] ??= performance.now() - begun;
    }
    if (Object.keys(found).length === 2) { watch.disconnect(); done(Object.values(found)); }
  });
  watch.observe(field, { childList: true, subtree: true, characterData: true });
  setTimeout(() => fail(new Error(`no tokens: ${field.innerText}`)), 120000);
  const begun = performance.now();
  field.querySelector("[data-say]").click();
})"""


def in_page(page: Page, program: Client) -> list[float]:
    """Milliseconds from the button to the first token of each model, in a conversation of its own."""
    program.next_context(TASK)
    page.goto(f"/tasks/{TASK}/create")
    page.get_by_label("Message").fill(MESSAGE)
    result: list[float] = page.evaluate(SEEN)
    page.get_by_text("Which reply is better?").wait_for()
    return sorted(result)


def themselves(servers: Sequence[tuple[str, str]]) -> list[float]:
    """Milliseconds to the first token of each model, asked directly and at once."""
    result: list[float] = []

    def ask(url: str, model: str) -> None:
        messages = [{"role": "user", "content": MESSAGE}]
        body = {"model": model, "messages": messages, "max_tokens": TOKENS, "temperature": 0.0, "stream": True}
        begun = time.perf_counter()
        first = False
        with httpx2.stream("POST", f"{url}/chat/completions", json=body, timeout=60) as response:
            for line in response.iter_lines():
                if not first and line.startswith("data: {") and _content(line):
                    first = True
                    result.append((time.perf_counter() - begun) * 1000)

    asking = [threading.Thread(target=ask, args=server) for server in servers]
    for item in asking:
        item.start()
    for item in asking:
        item.join()
    return sorted(result)


def _content(line: str) -> str:
    choices = json.loads(line.removeprefix("data: "))["choices"]
    return str(choices[0]["delta"].get("content", "")) if choices else ""


@contextmanager
def round_against(servers: Sequence[tuple[str, str]]) -> Iterator[tuple[Page, Client]]:
    """A person and their program on a platform with an open round against models at these addresses."""
    [chat] = [item for item in shipped.shipped_conversations() if item.config.id == TASK]
    with TemporaryDirectory() as at, gallery.chromium() as browser:
        home = Path(at)
        for number, (url, model) in enumerate(servers):
            folder(home / "models", f"voice-{number}", url, model, max_tokens=TOKENS)
        with platform(home, ready=False, private_endpoints="127.0.0.1") as base, Client(base) as program:
            wait_for(f"{base}/readyz", 600, '"host":"ok"')
            (home / "task.yaml").write_text(chat.source)
            operate(home, "task", "create", str(home / "task.yaml"))
            rows = (json.dumps(item["values"]) + "\n" for item in chat.contexts())
            (home / "contexts.jsonl").write_text("".join(rows))
            operate(home, "context", "upload", TASK, str(home / "contexts.jsonl"))
            operate(home, "round", "open", TASK, "--target", "voice-0", "--target", "voice-1")
            ada = Guest(browser, base)
            ada.context.set_default_timeout(PATIENCE)
            ada.come_in("ada")
            program.log_in("ada", PASSWORD)
            yield ada.page, program


def compared(name: str, servers: Sequence[tuple[str, str]]) -> Iterator[Row]:
    """Rows for the first token of either model and of both."""
    pairs: list[tuple[list[float], list[float]]] = []
    with round_against(servers) as (page, program):
        for number in range(WARM + PAIRS):
            if number % 2:
                own, seen = themselves(servers), in_page(page, program)
            else:
                seen, own = in_page(page, program), themselves(servers)
            pairs.append((seen, own))
    for place, which in ((0, "of either model"), (1, "of both models")):
        seen, own = ([pair[side][place] for pair in pairs[WARM:]] for side in (0, 1))
        ratio = statistics.median(seen) / statistics.median(own)
        item = statistics.median(entry / other for entry, other in zip(seen, own, strict=True))
        yield Row(
            f"chat, {name}: first token {which} on the page",
            statistics.median(seen),
            "ms",
            "the models' servers asked directly",
            statistics.median(own),
            f"{BUDGET}x",
            ratio <= BUDGET,
            f"{PAIRS} pairs in turns, median of their ratios {item:.2f}x; load average {os.getloadavg()[0]:.0f}",
        )


def rows() -> list[Row]:
    """The figures: a real small language model twice, where it is installed, and voices that are paced."""
    result: list[Row] = []
    if not language_model.missing():
        with (
            TemporaryDirectory() as cache,
            language_model.speaking(Path(cache)) as item,
            language_model.speaking(Path(cache)) as other,
        ):
            result += compared("SmolLM2-135M twice", [(item, "smollm2"), (other, "smollm2")])
    words = [f"word{number}" for number in range(TOKENS)]
    talker = Talker(**{name: Voice(words, first=PACE, pause=0.01) for name in ("north", "south")})
    result += compared(f"two voices of {PACE:g} s", [(talker.url, "north"), (talker.url, "south")])
    talker.stop()
    return result

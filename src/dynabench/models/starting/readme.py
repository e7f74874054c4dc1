"""The card of a new model: what it is, how to try it, what to change."""

from collections.abc import Mapping
from typing import Any

HANDLER = """\
`handler.py` holds a class `Model`: `Model(folder)` loads what lies beside it, `predict(batch)` answers a list of inputs
by field name with a list of answers. It runs in a sandbox: no network, read-only files, an ordinary user, limits on
memory, processors, processes, time and disk, which `options` in `model.yaml` may raise. What it prints is its log.

1. Put your weights into this folder and load them in `__init__`. No pickles from others, please.
2. Answer in `predict`: the answer field, and `probabilities` for each label if you have them. Other keys become extras.
3. Say in `model.yaml` what it learnt from and under which licence.
"""
SERVED = """\
The server is asked, nothing runs here; hidden examples are never sent to it. A token is named in `model.yaml` as
`token: NAME`, and the platform's operator sets it as `DYNABENCH_TOKEN_NAME`; it stands in no file.
"""


def text(told: Mapping[str, Any], body: str = "") -> str:
    """Markdown for a folder whose `model.yaml` says `told`."""
    steps = f"""\
## Try it

```bash
dynabench model check {told["name"]} --task {told["task"]}
```

## Limits

Say here what it was tried on, where it fails, and for whom it is not meant.
"""
    return "\n".join(part for part in (f"# {told['name']}\n\n{told.get('summary', '')}\n", body, steps) if part)

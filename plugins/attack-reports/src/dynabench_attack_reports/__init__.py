"""Reports of garak, promptfoo and TextAttack, as a plug-in of the platform."""

from collections.abc import Mapping

from dynabench.kit.hooks import hookimpl


@hookimpl
def dynabench_report_readers() -> Mapping[str, str]:
    """Return the reader of each program's files."""
    return {
        "garak": "dynabench_attack_reports.garak:read",
        "promptfoo": "dynabench_attack_reports.promptfoo:read",
        "textattack": "dynabench_attack_reports.textattack:read",
    }

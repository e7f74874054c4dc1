"""Formats of a report as a file."""

from collections.abc import Callable
from dataclasses import dataclass

import orjson

from dynabench.insight.data_reports import exports
from dynabench.insight.data_reports.pdf import report_pdf
from dynabench.insight.data_reports.report import DataReport


@dataclass(frozen=True)
class ReportFormat:
    """A format: its media type, and the function that writes a report in the current language."""

    media_type: str
    render: Callable[[DataReport], bytes]


FORMATS = {
    "html": ReportFormat("text/html; charset=utf-8", lambda report: exports.report_html(report).encode()),
    "pdf": ReportFormat("application/pdf", report_pdf),
    "md": ReportFormat("text/markdown; charset=utf-8", lambda report: exports.card_sections(report).encode()),
    "json": ReportFormat(
        "application/json", lambda report: orjson.dumps(report.document(), option=orjson.OPT_INDENT_2)
    ),
}
"""Formats by the ending of the file."""

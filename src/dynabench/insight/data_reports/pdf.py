"""A report as a PDF, drawn with fpdf2: one heading for each measure, its figures, and its tables with bars."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from dynabench.insight.data_measurements import formatting
from dynabench.insight.data_measurements.results import MeasureResult, Table
from dynabench.insight.data_reports import exports
from dynabench.insight.data_reports.report import DataReport
from dynabench.kit.language import _, translate

FONT_FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/Library/Fonts",
    "/System/Library/Fonts",
    "C:/Windows/Fonts",
)
FONT_FILES = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial Unicode.ttf", "arial.ttf")
FALLBACK_FILES = (
    "NotoSansDevanagari-Regular.ttf", "NotoSansArabic-Regular.ttf", "NotoNaskhArabic-Regular.ttf",
    "NotoSansThai-Regular.ttf", "NotoSansHebrew-Regular.ttf", "NotoSansBengali-Regular.ttf",
    "NotoSansTamil-Regular.ttf", "NotoSansCJKsc-Regular.otf",
    "DroidSansFallbackFull.ttf", "wqy-microhei.ttf", "unifont.ttf",
)  # fmt: skip
BODY, SMALL, LARGE = 9, 7.5, 18
MOST_CELL = 140
"""Characters of a cell of a table."""


def report_pdf(report: DataReport) -> bytes:
    """Return the report as a PDF, in the current language.

    Characters that no font of this machine has are shown as question marks.
    """
    from fpdf import FPDF

    pdf = FPDF(format="A4")
    pdf.set_auto_page_break(True, margin=15)
    pdf.set_title(translate(_("Data report: %(name)s", name=report.facts.name)))
    writer = _Writer(pdf)
    pdf.add_page()
    writer.line(translate(_("Data report: %(name)s", name=report.facts.name)), LARGE)
    if report.other:
        writer.line(
            translate(_("Compared with %(name)s, %(n)s rows.", name=report.other.name, n=f"{report.other.rows:,}"))
        )
    facts = translate(_("%(n)s rows", n=f"{report.facts.rows:,}"))
    writer.line(f"{facts}, {', '.join(report.facts.columns['texts'])}, sha256:{report.facts.digest}", SMALL)
    for _name, title, about, result in exports.sections(report):
        writer.section(title, about, result)
    return bytes(pdf.output())


class _Writer:
    """Writes texts and tables to a document, in a font that has their letters where the machine has one."""

    def __init__(self, pdf: Any) -> None:
        self.pdf, self.core = pdf, True
        files = _font_files()
        main = next((files[name] for name in FONT_FILES if name in files), None)
        if main is not None:
            pdf.add_font("body", fname=main)
            others = [name for name in FALLBACK_FILES if name in files]
            for name in others:
                pdf.add_font(name.partition(".")[0], fname=files[name])
            pdf.set_fallback_fonts([name.partition(".")[0] for name in others], exact_match=False)
            self.core = False
        self.font = "Helvetica" if self.core else "body"

    def line(self, text: str, size: float = BODY, gap: float = 1.0) -> None:
        """Write a paragraph."""
        self.pdf.set_font(self.font, size=size)
        self.pdf.multi_cell(0, size * 0.5, self._drawable(text), new_x="LMARGIN", new_y="NEXT", align="L")
        self.pdf.ln(gap)

    def section(self, title: str, about: str, result: MeasureResult) -> None:
        """Write a measure."""
        if self.pdf.get_y() > self.pdf.h - 60:
            self.pdf.add_page()
        self.pdf.ln(3)
        self.pdf.start_section(self._drawable(title))
        self.line(title, 13)
        self.line(translate(result.finding), 10)
        if result.note:
            self.line(translate(result.note))
        for figure in result.figures:
            interval = exports.figure_interval(figure)
            value = f"{exports.figure_value(figure)}" + (f" ({interval})" if interval else "")
            self.line(f"{translate(figure.label)}: {value}", gap=0)
        for table in result.tables:
            if table.rows and table.name not in exports.UNPRINTED:
                self.table(table)
        self.line(about, SMALL)

    def table(self, table: Table) -> None:
        """Write a table, whose columns are as wide as their longest cell needs."""
        self.pdf.ln(2)
        self.line(translate(table.title), 10, 0.5)
        header = [translate(column.label) for column in table.columns]
        lines = [[translate(cell)[:MOST_CELL] for cell in cells] for cells in formatting.table_lines(table)]
        longest = [min(max(len(line[at]) for line in [header, *lines]), 60) + 2 for at in range(len(header))]
        self.pdf.set_font(self.font, size=SMALL)
        aligned = ["LEFT" if column.kind == "text" else "RIGHT" for column in table.columns]
        with self.pdf.table(
            col_widths=tuple(longest), text_align=tuple(aligned), line_height=3.6, borders_layout="HORIZONTAL_LINES",
            padding=0.6, first_row_as_headings=True, headings_style=self._plain(),
        ) as drawn:  # fmt: skip
            for line in [header, *lines]:
                row = drawn.row()
                for cell in line:
                    row.cell(self._drawable(cell))

    def _plain(self) -> Any:
        from fpdf.fonts import FontFace

        return FontFace(emphasis="", fill_color=(235, 235, 235))

    def _drawable(self, text: str) -> str:
        plain = "".join(character if character.isprintable() or character == "\n" else " " for character in text)
        if self.core:
            return (
                plain.replace("\N{MINUS SIGN}", "-")
                .replace("–", "-")
                .replace("’", "'")
                .encode("latin-1", "replace")
                .decode("latin-1")
            )
        fonts = [self.pdf.fonts[name] for name in self.pdf.fonts]
        return "".join(
            character if character == "\n" or any(ord(character) in font.cmap for font in fonts) else "?"
            for character in plain
        )


@lru_cache(maxsize=1)
def _font_files() -> dict[str, Path]:
    names = {*FONT_FILES, *FALLBACK_FILES}
    paths: dict[str, Path] = {}
    for folder in map(Path, FONT_FOLDERS):
        if folder.is_dir():
            for path in folder.rglob("*.[to]tf"):
                if path.name in names:
                    paths.setdefault(path.name, path)
    return paths

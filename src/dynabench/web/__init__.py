"""Basis of all pages: templates, static files, charts. It knows no feature.

A feature keeps its templates in `<feature>/templates/` and addresses them as `feature/name.html`;
`web/layout.html`, `web/forms.html` and `web/components.html` are for all of them.
"""

from dynabench.web.pages import refresh, render
from dynabench.web.static import static_app as static_files

__all__ = ["refresh", "render", "static_files"]

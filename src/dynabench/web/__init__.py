"""What every page stands on: templates, static files, charts. It knows no feature.

A feature keeps its templates in `<feature>/templates/` and addresses them as `feature/name.html`;
`web/layout.html`, `web/forms.html` and `web/components.html` are for all of them.
"""

from dynabench.web.pages import refresh, render
from dynabench.web.static import mount as static_files

__all__ = ["refresh", "render", "static_files"]

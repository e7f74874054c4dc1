"""The routes of the application, made when this is imported: by the process that `tests/forked.py` forks."""

from dynabench.site.app import routes

routes()

"""The place where handlers run: a process without network, with little to write and limits on all else.

`inside.py` is the program that runs there, `available.py` has the sandboxes (bubblewrap, Docker, or a plain process),
`process.py` talks with the process, watches it, and starts it again when it ended.
"""

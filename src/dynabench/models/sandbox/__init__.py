"""Where handlers run: a long-lived process without network, with little to write, and limits on all else.

`inside.py` is what runs there; `bubblewrap.py` and `docker.py` make the sandbox; `process.py` talks with it and watches
it; `keeper.py` starts it again when it ended.
"""

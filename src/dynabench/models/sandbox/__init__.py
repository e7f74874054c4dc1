"""The place where handlers run.

It is a long-lived process without network, with little to write, and with limits on all else.
`inside.py` is the program that runs there; `bubblewrap.py` and `docker.py` make the sandbox;
`process.py` talks with the process and watches it; `keeper.py` starts it again when it ended.
"""

"""Evaluation modules in repositories of a hub: `load("owner/name")`, trust, the sandbox, checks and publishing.

A repository of a module has a Python file with one module of the evaluation library, and a README.md whose metadata
declare it (`manifest.py`). The code of a module runs in the sandbox of models' handlers (`inside.py`, `sandboxed.py`),
and only where the caller trusts exactly this commit (`trust.py`).
"""

"""The evaluation library's cards as pages and JSON: descriptions of each module, and a form that computes it.

Modules are computed in short-lived processes with limits (`calculator.py`), never in the web process.
"""

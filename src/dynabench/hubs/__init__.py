"""The hub: repositories of models, datasets and evaluation modules, with the API that Hugging Face's clients speak.

Content is kept by git, large files by their SHA-256. The database names the commits of branches: whatever is on the
disk counts from the moment on at which a row names it.
"""

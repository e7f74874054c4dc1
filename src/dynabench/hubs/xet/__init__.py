"""Uploads by the Xet protocol, as Hugging Face's client sends large files: chunks in xorbs, files in shards.

The client cuts files into chunks and sends each chunk once, in objects called xorbs. Then a shard says of which chunks
each file consists. Here the files are put together again and stored by their SHA-256, as other large files are; xorbs
are kept for a day, so that a repeated upload sends only what is new. Downloads go over plain HTTP.
"""

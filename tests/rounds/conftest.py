"""The same people, tasks and models as the tests of collection."""

from tests.collection.conftest import ada, admin, bob, client, furnish, host, owner, rules

__all__ = ["ada", "admin", "bob", "client", "furnish", "host", "owner", "rules"]

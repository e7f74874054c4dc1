"""How people learn of things away from the pages: mail that they asked for, and webhooks of people and of tasks."""

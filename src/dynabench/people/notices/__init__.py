"""Notices away from the pages: mail that people asked for, and webhooks of people and of tasks."""

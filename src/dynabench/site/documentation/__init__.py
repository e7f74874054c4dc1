"""The documentation as pages of the site, and the reference of the JSON API."""

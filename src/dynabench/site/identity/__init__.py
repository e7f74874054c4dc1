"""Icons of the site, pictures of its links on other sites, and files for search engines."""

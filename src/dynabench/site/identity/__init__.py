"""How the site presents itself elsewhere: icons, pictures of shared links, and what search engines read."""

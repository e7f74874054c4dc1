"""Teams: people who join by link, alone in a task or on the whole site."""

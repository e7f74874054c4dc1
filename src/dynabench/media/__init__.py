"""Pictures, sounds and other files that people upload: checked, stored by content, and sent only with permission."""

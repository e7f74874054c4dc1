"""Pictures, sounds and other files that people upload: checked, stored by their content, sent to who may see them."""

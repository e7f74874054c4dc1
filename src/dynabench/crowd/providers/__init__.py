"""The crowd platforms that ship with the package, one file each."""

"""The commands that judge, one file each."""

"""The commands of the command line, one file each, and the console they share."""

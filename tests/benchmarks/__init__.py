# The exit code of a benchmark that was taken and holds a figure under its mark.
MISSED = 3

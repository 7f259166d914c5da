"""Following branches of stationary states: continuation, events, and the walk through all branches."""

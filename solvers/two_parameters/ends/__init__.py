"""Where curves end: at the uniform state, and where states become one."""

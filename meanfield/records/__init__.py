"""The records of results: plain arrays with names, to be saved, exported, plotted and summarised."""

"""The records of results: plain arrays with names, saved, exported, plotted and told by what they are."""

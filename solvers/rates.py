"""placeholder"""
def with_rates(problem, branches):
    return tuple(branches)

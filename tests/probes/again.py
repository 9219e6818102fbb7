"""Measurements that another program may have disturbed."""


def until(holds, measure, attempts=5):
    """What `measure` returns, as soon as `holds` says yes to it; of the last attempt otherwise."""
    for _ in range(attempts):
        found = measure()
        if holds(found):
            break
    return found

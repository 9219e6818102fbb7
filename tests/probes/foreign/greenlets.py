"""Greenlets: each has a stack of its own, whose part the package copies away and back when it switches."""
import threading

import greenlet


def green_work(n):
    return sum(i % 7 for i in range(n))


def deeper(depth, n):
    """Switches in the middle of calls of Python by C and of C by Python."""
    if depth:
        return max(map(lambda _: deeper(depth - 1, n), [0]))
    total = 0
    for _ in range(5):
        total += green_work(n)
        total += greenlet.getcurrent().parent.switch(total) or 0
    return total


def fails():
    green_work(1000)
    raise ValueError("planted")


def work(out):
    total, caught = 0, 0
    for depth in range(40):
        tasks = [greenlet.greenlet(deeper) for _ in range(6)]
        for task in tasks:
            total += task.switch(depth, 2000)
        while any(not task.dead for task in tasks):
            for task in tasks:
                if not task.dead:
                    total += task.switch(1)
        try:
            greenlet.greenlet(fails).switch()
        except ValueError:
            caught += 1
    out.append((total, caught))


sums = []
threads = [threading.Thread(target=work, args=(sums,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sums)

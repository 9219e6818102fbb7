"""Does what programs of Python do, and prints what it computed: the same with and without samples. usage: ROUNDS"""
import asyncio
import collections
import gc
import importlib
import os
import random
import sys
import threading

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
out = []


def note(what, value):
    out.append("%s %r" % (what, value))


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


def pairs(n):
    for i in range(n):
        yield i * 2


def tree(n):
    if n:
        yield from tree(n - 1)
        yield n
        yield from tree(n - 1)


def fails(n):
    try:
        if n == 0:
            raise ValueError("x" * 10)
        fails(n - 1)
    except ValueError:
        if n % 3 == 0:
            raise
        raise KeyError(n) from None


class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class Thing(metaclass=Meta):
    def __init__(self, n):
        self.n = n
    def __getattr__(self, name):
        return len(name) + self.n
    def __lt__(self, other):
        return self.n < other.n
    def __del__(self):
        deep(3)


def exceptions(n):
    seen = 0
    for i in range(n):
        try:
            fails(i % 9)
        except (ValueError, KeyError) as error:
            seen += len(str(error))
    return seen


def generators(n):
    return sum(sum(pairs(50)) for _ in range(n)) + sum(1 for _ in tree(7)) + sum(x for x in (y + 1 for y in range(100)))


def native_and_back(n):
    things = [Thing(random.Random(i).randrange(100)) for i in range(n)]
    return [t.n for t in sorted(things)][:5], sum(map(lambda t: t.abc, things)), max(things, key=lambda t: t.n).n


def made_code(n):
    """Code objects that are freed, and whose memory is used again."""
    total = 0
    for i in range(n):
        space = {}
        exec(compile("def f%d(x):\n    y = x + %d\n    return g(y)\ndef g(z): return z * 2\n" % (i, i), "made%d" % i, "exec"), space)
        total += space["f%d" % i](i)
        del space
    return total


async def waiter(n):
    for i in range(n):
        await asyncio.sleep(0)
    return n


async def agen(n):
    for i in range(n):
        yield i
        await asyncio.sleep(0)


async def gather():
    total = sum(await asyncio.gather(*[waiter(i) for i in range(30)]))
    async for i in agen(20):
        total += i
    return total


def coroutines(n):
    return [asyncio.run(gather()) for _ in range(n)]


def garbage(n):
    for i in range(n):
        a = []
        b = {"a": a, "t": Thing(i)}
        a.append(b)
        if i % 50 == 0:
            gc.collect()
    return gc.isenabled()


def imports(n):
    names = ["json", "json.decoder", "dataclasses", "fractions", "decimal", "textwrap", "csv", "argparse", "html.parser"]
    for i in range(n):
        for name in names:
            sys.modules.pop(name, None)
        for name in names:
            importlib.import_module(name)
    import dataclasses
    made = dataclasses.make_dataclass("Made", ["a", "b"])
    return made(1, 2) == made(1, 2)


def traced(n):
    counts = collections.Counter()
    def tracer(frame, event, arg):
        counts[event] += 1
        return tracer
    sys.settrace(tracer)
    try:
        for i in range(n):
            deep(5)
            list(pairs(3))
    finally:
        sys.settrace(None)
    profiled = collections.Counter()
    sys.setprofile(lambda frame, event, arg: profiled.update([event]))
    deep(20)
    sorted([3, 1, 2])
    sys.setprofile(None)
    return counts["call"], counts["return"], profiled["call"]


def threads(n):
    results = [0] * n
    def work(i):
        for _ in range(5):
            results[i] += generators(10) + exceptions(20) + made_code(3)
    for _ in range(3):
        alive = [threading.Thread(target=work, args=(i,)) for i in range(n)]
        for t in alive:
            t.start()
        for t in alive:
            t.join()
    return sum(results)


def subinterpreters(n):
    try:
        import _xxsubinterpreters as sub
    except ImportError:
        try:
            import _interpreters as sub
        except ImportError:
            return n
    for i in range(n):
        one = sub.create()
        sub.run_string(one, "def f(n):\n  return 1 if n < 2 else n * f(n - 1)\nimport json\nfor i in range(200): f(20); json.dumps([i])\n")
        sub.destroy(one)
    return n


def forks(n):
    good = 0
    for i in range(n):
        pid = os.fork()
        if not pid:
            code = 7
            try:
                code = (generators(20) + exceptions(10)) % 5
            finally:
                os._exit(code)
        good += os.waitpid(pid, 0)[1] == (((generators(20) + exceptions(10)) % 5) << 8)
    return good


def recursion():
    def down(n):
        return down(n + 1)
    try:
        down(0)
    except RecursionError as error:
        return "recursion" in str(error)


for _ in range(ROUNDS):
    for what, value in (("deep", deep(300)), ("generators", generators(300)), ("exceptions", exceptions(300)),
                        ("native", native_and_back(300)), ("made", made_code(80)), ("coroutines", coroutines(4)),
                        ("garbage", garbage(300)), ("imports", imports(2)), ("traced", traced(80)), ("threads", threads(6)),
                        ("interpreters", subinterpreters(3)), ("forks", forks(6)), ("recursion", recursion())):
        note(what, value)
daemon = threading.Thread(target=lambda: [generators(10) for _ in iter(int, 1)], daemon=True)
daemon.start()
generators(50)
print("\n".join(out))
# the interpreter ends with a daemon thread that runs

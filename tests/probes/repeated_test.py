#!/usr/bin/env python3
"""Calls of libraries' functions that a loop or a server calls again and again, against how often the program made them.

usage: repeated_test.py BUILD_FOLDER [PYTHON] | BUILD_FOLDER "" PYTHON...

Without PYTHON, with packages that have the functions of probes/python/known.def, but do nothing. PYTHON has the packages of
`tools/venv fit`: then with these. Last line: N passed, N failed
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

DWELL = os.path.join(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build"), "dwell")
PYTHON = sys.argv[2] if len(sys.argv) > 2 else None
PYTHONS = sys.argv[3:] or [sys.executable] # of the test of coroutines
KNOWN = os.path.join(os.path.dirname(__file__), "..", "..", "probes", "python", "known.def")
ROW = re.compile(r'^KNOWN_CALL\("([^"]+)", "([^"]*)", "([^"]+)", (\w+), NULL\)', re.M)

ESTIMATORS = """
class _MetadataRequester:
    def __init_subclass__(cls, **named):
        super().__init_subclass__(**named)
"""
ESTIMATOR_PROGRAM = """
import copy, inspect, pickle
from sklearn.utils._metadata_requests import _MetadataRequester

class Model(_MetadataRequester):
    def fit(self, x, y=None):
        return self
    def partial_fit(self, x):
        return self
    @property
    def score(self):
        return 1

class Finer(Model):
    pass

model = Finer()
assert model.fit(1) is model and str(inspect.signature(Model.fit)) == "(self, x, y=None)"
assert pickle.loads(pickle.dumps(model)).score == 1 and copy.deepcopy(model.partial_fit)(3)
for i in range(40):
    model.partial_fit(i)
try:
    model.fit()
except TypeError:
    print("ok")
"""

COROUTINES = """
import asyncio, time
class RequestHandler:
    async def _handle_request(self, what, *arguments):
        if what == "sleeps":
            await asyncio.sleep(.002)
        if what == "fails":
            raise KeyError("no")
        if what == "works":
            await asyncio.sleep(0)
            until = time.perf_counter() + .003
            while time.perf_counter() < until: pass
        return arguments[-1] if arguments else what
"""
COROUTINE_PROGRAM = """
import asyncio, gc, inspect, sys, time, traceback, types, warnings, weakref
from collections.abc import Coroutine
from aiohttp.web_protocol import RequestHandler
handler, own = RequestHandler(), []
async def timed(what):
    begin = time.perf_counter_ns()
    result = await handler._handle_request(what)
    own.append(time.perf_counter_ns() - begin)
    return result
async def fails():
    try:
        await handler._handle_request("fails")
    except KeyError as error:
        assert traceback.extract_tb(error.__traceback__)[-1].name == "_handle_request"
        return 1
async def cancelled():
    task = asyncio.get_running_loop().create_task(handler._handle_request("sleeps"))
    await asyncio.sleep(0)
    assert "_handle_request" in repr(task) and task.get_stack()[0].f_code.co_name == "_handle_request"
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return 1
async def main():
    assert await asyncio.gather(*(timed("sleeps") for _ in range(20))) == ["sleeps"] * 20
    assert await asyncio.gather(*(timed("works") for _ in range(20))) == ["works"] * 20
    assert [await fails() for _ in range(5)] == [1] * 5
    assert [await cancelled() for _ in range(5)] == [1] * 5
    assert await asyncio.wait_for(handler._handle_request("sleeps", 1, 2, 3), 5) == 3
    assert await asyncio.create_task(handler._handle_request("sleeps")) == "sleeps"
    assert await asyncio.shield(handler._handle_request("sleeps")) == "sleeps"
assert inspect.iscoroutinefunction(RequestHandler._handle_request) or sys.version_info < (3, 10)
one = handler._handle_request("sleeps")
assert asyncio.iscoroutine(one) and inspect.iscoroutine(one) and inspect.isawaitable(one)
assert isinstance(one, types.CoroutineType) and isinstance(one, Coroutine)
assert one.cr_frame.f_lineno and one.__qualname__ == "RequestHandler._handle_request" and weakref.ref(one)() is one
assert inspect.getcoroutinestate(one) == "CORO_CREATED"
one.close()
one.close()
asyncio.run(main())
two = handler._handle_request("returns")
try:
    two.send(None)
except StopIteration as end:
    assert end.value == "returns"
try:
    two.send(None)
except RuntimeError as error:
    assert "cannot reuse" in str(error)
three = handler._handle_request("fails")
try:
    three.throw(ValueError("thrown"))
except ValueError:
    pass
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    handler._handle_request("never")
    gc.collect()
    assert [str(one.message) for one in said] == ["coroutine 'RequestHandler._handle_request' was never awaited"], said
class Cycle: pass
cycle = Cycle()
cycle.one, gone = handler._handle_request("cycle", cycle), weakref.ref(cycle)
cycle.one.close()
cycle.two = handler._handle_request("cycle", cycle)
del cycle
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    gc.collect()
assert gone() is None
print(sorted(own))
"""

# What is fitted by programs as people write them: (program, (name of the iterations, how often)).
DATA = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
rng = np.random.RandomState(0)
X = rng.rand(2000, 20); y = (X[:, 0] + X[:, 1] * X[:, 2] > .7).astype(int)
"""
PROGRAMS = {
    "jax": ("""
import jax, jax.numpy as jnp
@jax.jit
def update(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
@jax.jit
def accuracy(w, x):
    return jnp.mean(x @ w > 0)
w = jnp.ones((20, 5))
for epoch in range(4):
    for i in range(25):
        w = update(w, X[i * 10:i * 10 + 100])
        w = jnp.where(w > 5, 5, w)
    print(float(accuracy(w, X)) >= 0)
""", "PjitFunction(update)", 100),
    "keras": ("""
import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
m = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
m.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
m.fit(X.astype("float32"), y, batch_size=50, epochs=3, verbose=0)
""", "PjitFunction(train_step)", 120),
    "lightgbm": ("""
import lightgbm
lightgbm.train({"objective": "binary", "verbosity": -1, "num_threads": 1}, lightgbm.Dataset(X, y), 60)
""", "Booster.update", 60),
    "xgboost": ("""
import xgboost
xgboost.XGBClassifier(n_estimators=30, nthread=1).fit(X, y)
xgboost.train({"max_depth": 3, "nthread": 1}, xgboost.DMatrix(X, y), 20)
""", "Booster.update", 50),
    "sklearn_mlp": ("""
from sklearn.neural_network import MLPClassifier
assert MLPClassifier((10,), max_iter=6, batch_size=100, random_state=0).fit(X, y).n_iter_ == 6
""", "BaseMultilayerPerceptron._backprop", 120),
    "sklearn_partial": ("""
from sklearn.linear_model import SGDClassifier
m = SGDClassifier(random_state=0)
for i in range(80):
    m.partial_fit(X[i:i + 100], y[i:i + 100], classes=[0, 1])
""", "BaseSGDClassifier.partial_fit", 80),
    "sklearn_search": ("""
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
GridSearchCV(SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]}, cv=5, refit=False).fit(X, y)
""", "BaseSGDClassifier.fit", 20),
    "sklearn_boosting": ("""
from sklearn.ensemble import GradientBoostingClassifier
GradientBoostingClassifier(n_estimators=25).fit(X, y)
""", "BaseGradientBoosting._fit_stage", 25),
}
CLIENT = """
import threading, time, urllib.request
def ask(port):
    def some():
        for _ in range(10): urllib.request.urlopen("http://127.0.0.1:%d/" % port).read()
    clients = [threading.Thread(target=some) for _ in range(4)]
    for client in clients: client.start()
    for client in clients: client.join()
"""
TASKS = {
    "flask": ("""
import logging, threading, urllib.request
from flask import Flask
from werkzeug.serving import make_server
logging.getLogger("werkzeug").setLevel(logging.ERROR)
app = Flask("program")
@app.route("/")
def predict():
    return str(sum([i * i for i in range(20000)]))
server = make_server("127.0.0.1", 0, app, threaded=True)
thread = threading.Thread(target=server.serve_forever)
thread.start()
for _ in range(40):
    urllib.request.urlopen("http://127.0.0.1:%d/" % server.server_port).read()
server.shutdown()
thread.join()
""", "Flask.wsgi_app", 40),
    "grpc": ("""
import grpc
from concurrent import futures
class Handler(grpc.GenericRpcHandler):
    def service(self, call):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: str(sum([i * i for i in range(20000)])).encode())
server = grpc.server(futures.ThreadPoolExecutor(2), handlers=[Handler()])
port = server.add_insecure_port("127.0.0.1:0")
server.start()
with grpc.insecure_channel("127.0.0.1:%d" % port) as channel:
    for _ in range(40):
        channel.unary_unary("/Service/Get")(b"")
server.stop(None).wait()
""", "_unary_response_in_pool", 40),
    "fastapi": (CLIENT + """
import asyncio, sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/")
async def predict():
    await asyncio.sleep(.001)
    return sum([i * i for i in range(20000)])
for http in "h11", "httptools":
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", http=http))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started: time.sleep(.01)
    ask(server.servers[0].sockets[0].getsockname()[1])
    server.should_exit = True
    thread.join()
""", "RequestResponseCycle.run_asgi", 80),
    "aiohttp": (CLIENT + """
import asyncio
from aiohttp import web
async def predict(request):
    await asyncio.sleep(.001)
    return web.Response(text=str(sum([i * i for i in range(20000)])))
async def main():
    app = web.Application()
    app.router.add_get("/", predict)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await asyncio.to_thread(ask, runner.addresses[0][1])
    await runner.cleanup()
asyncio.run(main())
""", "RequestHandler._handle_request", 40),
    "tornado": (CLIENT + """
import asyncio, tornado.web, tornado.httpserver, tornado.netutil
class Handler(tornado.web.RequestHandler):
    async def get(self):
        await asyncio.sleep(.001)
        self.write(str(sum([i * i for i in range(20000)])))
async def main():
    sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
    tornado.httpserver.HTTPServer(tornado.web.Application([("/", Handler)])).add_sockets(sockets)
    await asyncio.to_thread(ask, sockets[0].getsockname()[1])
asyncio.run(main())
""", "RequestHandler._execute", 40),
}


STREAMS = CLIENT + """
import asyncio, sys, tornado.httpserver, tornado.netutil, tornado.web, uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
async def tokens():
    for i in range(6):
        await asyncio.sleep(.001)
        yield b"token"
app = FastAPI()
@app.get("/")
async def generate():
    return StreamingResponse(tokens())
for http in "h11", "httptools":
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", http=http))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started: time.sleep(.01)
    ask(server.servers[0].sockets[0].getsockname()[1])
    server.should_exit = True
    thread.join()
class Handler(tornado.web.RequestHandler):
    async def get(self):
        async for token in tokens():
            self.write(token)
            await self.flush()
async def main():
    sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
    tornado.httpserver.HTTPServer(tornado.web.Application([("/", Handler)])).add_sockets(sockets)
    await asyncio.to_thread(ask, sockets[0].getsockname()[1])
asyncio.run(main())
"""


def rows(trace, view):
    output = subprocess.run([DWELL, "report", trace, "--view", view, "--format", "json", "--limit", "all"],
                            check=True, capture_output=True, text=True).stdout
    table = json.loads(output)
    table = table if "columns" in table else table["views"][0]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row["cells"] if isinstance(row, dict) else row)) for row in table["rows"]]


def record(folder, text, python=sys.executable):
    program, trace = os.path.join(folder, "program.py"), os.path.join(folder, "program.dwell")
    with open(program, "w", encoding="utf-8") as file:
        file.write(text)
    out = subprocess.run([DWELL, "run", "-o", trace, python, program], check=True, capture_output=True, text=True)
    return trace, out.stdout


def write_module(folder, name, text):
    parts = name.split(".")
    for depth in range(1, len(parts)):
        package = os.path.join(folder, *parts[:depth])
        os.makedirs(package, exist_ok=True)
        with open(os.path.join(package, "__init__.py"), "a", encoding="utf-8"):
            pass
    with open(os.path.join(folder, *parts) + ".py", "a", encoding="utf-8") as file:
        file.write(text)


class Functions(unittest.TestCase):
    """Packages that have the functions of the table."""

    def test_each_row(self):
        with open(KNOWN, encoding="utf-8") as file:
            known = ROW.findall(file.read())
        self.assertGreater(len(known), 4)
        program, counts, methods = "", {}, {}
        for number, (module, owner, function, _) in enumerate(known):
            name = ".".join(filter(None, (owner, function)))
            counts[name] = counts.get(name, 0) + 7 + number
            methods.setdefault((module, owner), []).append(function)
            call = "module.%s().%s" % (owner, function) if owner else "module." + function
            program += "import %s as module\nfor i in range(%d):\n    assert %s(i, 'x') == 'x'\n" % (module, 7 + number, call)
        with tempfile.TemporaryDirectory() as folder:
            for (module, owner), functions in methods.items():
                text = "".join("    def %s(*arguments): return arguments[-1]\n" % function for function in functions)
                write_module(folder, module, "class %s:\n%s" % (owner, text) if owner else text.replace("    def", "def"))
            trace, _ = record(folder, program)
            actions = {row["name"]: row["calls"] for row in rows(trace, "actions")}
        self.assertEqual({name: actions.get(name) for name in counts}, counts)

    def test_estimators(self):
        with tempfile.TemporaryDirectory() as folder:
            write_module(folder, "sklearn.utils._metadata_requests", ESTIMATORS)
            trace, out = record(folder, ESTIMATOR_PROGRAM)
            actions = {row["name"]: row["calls"] for row in rows(trace, "actions")}
            first = subprocess.run([DWELL, "report", trace], check=True, capture_output=True, text=True).stdout
        self.assertEqual(out, "ok\n")
        self.assertEqual(actions, {"Model.fit": 2, "Model.partial_fit": 41})
        self.assertIn("Model.partial_fit recurs: it begins 41 iterations", first)


    def test_coroutines(self):
        for python in PYTHONS:
            with self.subTest(python), tempfile.TemporaryDirectory() as folder:
                write_module(folder, "aiohttp.web_protocol", COROUTINES)
                trace, out = record(folder, COROUTINE_PROGRAM, python)
                plain = subprocess.run([python, os.path.join(folder, "program.py")], check=True, capture_output=True, text=True)
                requests = rows(trace, "requests")
                own = json.loads(out)
                self.assertEqual(len(json.loads(plain.stdout)), len(own))
                self.assertEqual((requests[0]["name"], requests[0]["count"]), ("RequestHandler._handle_request", 59))
                self.assertGreater(requests[0]["at_once"], 19)
                self.assertGreater(requests[0]["p50_ns"], own[0])
                self.assertAlmostEqual(requests[0]["max_ns"] / own[-1], 1, delta=.1)
                parts = {row["name"]: row for row in requests[1:]}
                self.assertGreater(parts["uses the CPU"]["mean_ns"], 3e5)


class Libraries(unittest.TestCase):
    """The libraries themselves."""

    def check(self, text, python):
        with tempfile.TemporaryDirectory() as folder:
            trace, out = record(folder, DATA + text, python)
            first = subprocess.run([DWELL, "report", trace], check=True, capture_output=True, text=True).stdout
            tasks = {row["name"]: row["count"] for row in rows(trace, "requests") if row["count"]}
        return " ".join(first.split()), tasks, out

    def test_iterations(self):
        for program, (text, name, count) in PROGRAMS.items():
            with self.subTest(program):
                first, _, out = self.check(text, PYTHON)
                self.assertIn("%s recurs: it begins %d iterations" % (name, count), first)
                self.assertNotIn("no Python", first)
                self.assertNotIn("False", out)

    def test_tasks(self):
        for program, (text, name, count) in TASKS.items():
            with self.subTest(program):
                _, tasks, _ = self.check(text, PYTHON)
                self.assertEqual(tasks.get(name), count, tasks)

    def test_chunks(self):
        """Pieces of streamed responses: the first comes 1 ms after the begin, the others 1 ms after each other."""
        query = "select name, count(*), min(tokens), max(tokens), min(first_ns) >= 1e6, min(last_ns - first_ns) >= 5e6 from served " \
                "group by name order by name"
        with tempfile.TemporaryDirectory() as folder:
            trace, _ = record(folder, STREAMS, PYTHON)
            out = subprocess.run([DWELL, "query", trace, query, "--format", "csv"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(out.splitlines()[1:], ["RequestHandler._execute,40,6,6,1,1", "RequestResponseCycle.run_asgi,80,6,6,1,1"])


if __name__ == "__main__":
    chosen = unittest.defaultTestLoader.loadTestsFromTestCase(Libraries if PYTHON else Functions)
    result = unittest.TextTestRunner(verbosity=1).run(chosen)
    failed = len(result.failures) + len(result.errors)
    print("%d passed, %d failed" % (max(result.testsRun - failed, 0), failed))
    sys.exit(failed > 0)

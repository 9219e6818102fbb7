#!/usr/bin/env python3
"""Calls of libraries' functions that a loop or a server calls again and again, against how often the program made them.

usage: repeated_test.py BUILD_FOLDER [PYTHON]

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
}


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


if __name__ == "__main__":
    chosen = unittest.defaultTestLoader.loadTestsFromTestCase(Libraries if PYTHON else Functions)
    result = unittest.TextTestRunner(verbosity=1).run(chosen)
    failed = len(result.failures) + len(result.errors)
    print("%d passed, %d failed" % (max(result.testsRun - failed, 0), failed))
    sys.exit(failed > 0)

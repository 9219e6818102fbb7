#!/usr/bin/python3
"""Steps of programs that have no optimizer or call no backward(): a step is an iteration of the loop.

usage: torch_loops_test.py path/to/dwell [part of a program's name]

Each program notes by its own clock when its loop begins, each iteration, and the end. The steps must be
as many as the iterations, and take as long in all, but for the first iteration, which may begin late, and
the last one, which may end early: nothing shows them whole. A tenth may lie between steps, because on a busy
machine a process waits for a CPU wherever it calls the kernel; elsewhere it is much less than a hundredth.

All programs run under one `dwell run`, each in a child process that has PyTorch imported already.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import csv
import os
import re
import subprocess
import sys
import tempfile

import installed

TORCH = installed.need("torch")

HEAD = """
import time, torch, torch.nn as nn, torch.nn.functional as F
if functional and not hasattr(torch, "func"): raise SystemExit(77)
if hasattr(torch, "func"): from torch.func import functional_call, grad, grad_and_value, vmap
torch.manual_seed(0)
def model(inputs=64, hidden=256, outputs=8):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                         nn.Linear(hidden, outputs))
def work(seconds=.002):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until: pass
net = model()
params = {name: p.detach().clone() for name, p in net.named_parameters()}
class Clock:
    def __enter__(self):
        self.times = []
        return lambda: self.times.append(time.perf_counter())
    def __exit__(self, *error):
        self.times.append(time.perf_counter())
        runs.append(self.times)
"""

# A model whose layers are called by its forward(), without its __call__().
PARTS = """
import threading
class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = model(), nn.ReLU(), model(8)
        self.blocks = nn.ModuleList([nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)])
    def forward(self, x):
        x = self.third(self.second(self.first(x)))
        for block in self.blocks: x = block(x)
        return x
parts = Parts().eval()
def answer(x):
    with Clock() as tick:
        tick()
        parts.forward(x)
"""

SCRIPTS = (
    ("torch.func.grad_and_value, updates by hand", True, """
weights = params
step = grad_and_value(lambda w, x, y: F.mse_loss(functional_call(net, w, (x,)), y))
with Clock() as tick:
    for i in range(60):
        tick()
        x = torch.randn(256, 64)
        work()
        grads, loss = step(weights, x, torch.randn(256, 8))
        weights = {name: w - .01 * grads[name] for name, w in weights.items()}
        work(.002)
""", 60),
    ("a training function called once an epoch", True, """
def loss_of(w, x, y): return F.mse_loss(functional_call(net, w, (x,)), y)
def data(count):
    for _ in range(count):
        work(.002)
        yield torch.randn(128, 64), torch.randn(128, 8)
def update(weights, grads): return {name: w - .01 * grads[name] for name, w in weights.items()}
def train_epoch(weights):
    gradient, total = grad(loss_of), 0
    with Clock() as tick:
        for x, y in data(25):
            tick()
            weights = update(weights, gradient(weights, x, y))
            work(.002)
    return weights
weights = params
for epoch in range(4):
    weights = train_epoch(weights)
    with torch.no_grad():
        net.eval()
        for k in range(10): net(torch.randn(64, 64))
        net.train()
    time.sleep(.05)
""", 100),
    ("per-sample gradients by vmap", True, """
def loss_of(w, x, y): return F.mse_loss(functional_call(net, w, (x[None],)), y[None])
each = vmap(grad(loss_of), in_dims=(None, 0, 0))
weights = dict(params)
with Clock() as tick:
    for i in range(50):
        tick()
        x, y = torch.randn(32, 64), torch.randn(32, 8)
        work()
        grads = each(weights, x, y)
        for name, g in grads.items():
            flat = g.flatten(1)
            weights[name] = weights[name] - .01 * (flat / (flat.norm(dim=1, keepdim=True) + 1)).mean(0).view_as(weights[name])
""", 50),
    ("model-agnostic meta-learning in torch.func", True, """
def loss_of(w, x, y): return F.mse_loss(functional_call(net, w, (x,)), y)
def adapted(w, x, y):
    for k in range(3):
        g = grad(loss_of)(w, x, y)
        w = {name: p - .1 * g[name] for name, p in w.items()}
    return w
def meta_loss(w, tasks):
    losses = []
    for xs, ys, xq, yq in tasks: losses.append(loss_of(adapted(w, xs, ys), xq, yq))
    return torch.stack(losses).mean()
weights = params
with Clock() as tick:
    for i in range(40):
        tick()
        tasks = [tuple(torch.randn(16, n) for n in (64, 8, 64, 8)) for _ in range(2)]
        work()
        g = grad(meta_loss)(weights, tasks)
        weights = {name: p - .01 * g[name] for name, p in weights.items()}
""", 40),
    ("meta-learning by torch.autograd.grad, an inner loop that adapts", True, """
weights = {name: p.clone().requires_grad_() for name, p in params.items()}
with Clock() as tick:
    for i in range(40):
        tick()
        fast = dict(weights)
        xs, ys, xq, yq = (torch.randn(16, n) for n in (64, 8, 64, 8))
        work()
        for k in range(4):
            loss = F.mse_loss(functional_call(net, fast, (xs,)), ys)
            g = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {name: p - .1 * d for (name, p), d in zip(fast.items(), g)}
        loss = F.mse_loss(functional_call(net, fast, (xq,)), yq)
        g = torch.autograd.grad(loss, list(weights.values()))
        weights = {name: (p - .01 * d).detach().requires_grad_() for (name, p), d in zip(weights.items(), g)}
        work(.002)
""", 40),
    ("torch.autograd.grad and updates by hand", False, """
with Clock() as tick:
    for i in range(60):
        tick()
        x, y = torch.randn(128, 64), torch.randn(128, 8)
        work()
        grads = torch.autograd.grad(F.mse_loss(net(x), y), list(net.parameters()))
        with torch.no_grad():
            for p, g in zip(net.parameters(), grads): p -= .01 * g
        work(.002)
""", 60),
    ("tensors alone and torch.autograd.grad, a while loop", False, """
w, loss, count = torch.randn(64, 64, requires_grad=True), torch.tensor(1e9), 0
x = torch.randn(256, 64)
with Clock() as tick:
    while loss > 0 and count < 60:
        tick()
        count += 1
        work()
        loss = (x @ w).square().mean()
        g, = torch.autograd.grad(loss, w)
        w = (w - .1 * g).detach().requires_grad_()
""", 60),
    ("backward() and updates without torch.optim", False, """
with Clock() as tick:
    for i in range(60):
        tick()
        x, y = torch.randn(128, 64), torch.randn(128, 8)
        work()
        F.mse_loss(net(x), y).backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= .01 * p.grad
                p.grad = None
""", 60),
    ("hill climbing: perturb, evaluate, keep or undo", False, """
x, y, best = torch.randn(128, 64), torch.randn(128, 8), 1e9
with torch.no_grad(), Clock() as tick:
    for i in range(80):
        tick()
        noise = [.01 * torch.randn_like(p) for p in net.parameters()]
        for p, n in zip(net.parameters(), noise): p += n
        loss = F.mse_loss(net(x), y).item()
        work()
        if loss < best: best = loss
        else:
            for p, n in zip(net.parameters(), noise): p -= n
""", 80),
    ("an evolution strategy: a loop over candidates in each generation", False, """
from torch.nn.utils import parameters_to_vector, vector_to_parameters
x, y = torch.randn(64, 64), torch.randn(64, 8)
theta = parameters_to_vector(net.parameters()).detach()
with torch.inference_mode(), Clock() as tick:
    for generation in range(30):
        tick()
        noise = torch.randn(10, theta.numel())
        scores = torch.zeros(10)
        for i in range(10):
            vector_to_parameters(theta + .02 * noise[i], net.parameters())
            scores[i] = -F.mse_loss(net(x), y)
            work(.001)
        advantage = (scores - scores.mean()) / (scores.std() + 1e-8)
        theta = theta + .01 / (10 * .02) * (advantage @ noise)
        work(.002)
""", 30),
    ("a genetic algorithm: models in a list, scores by a comprehension", False, """
import copy, random
x, y = torch.randn(64, 64), torch.randn(64, 8)
population = [model() for _ in range(12)]
def fitness(candidate):
    work(.001)
    return -F.mse_loss(candidate(x), y).item()
def mutated(parent):
    child = copy.deepcopy(parent)
    for p in child.parameters(): p += .01 * torch.randn_like(p)
    return child
with torch.no_grad(), Clock() as tick:
    for generation in range(25):
        tick()
        scores = [fitness(candidate) for candidate in population]
        ranked = [population[i] for i in sorted(range(12), key=scores.__getitem__, reverse=True)]
        population = ranked[:4] + [mutated(ranked[i % 4]) for i in range(8)]
""", 25),
    ("inference by batches", False, """
net.eval()
with torch.inference_mode():
    results = []
    with Clock() as tick:
        for i in range(60):
            tick()
            x = torch.randn(128, 64)
            work()
            results.append(net(x).argmax(1))
            work(.002)
""", 60),
    # From Python 3.12 on a frame of the interpreter's own lies between that of __init__() and its caller's.
    ("inference with two models an iteration, in __init__()", False, """
encoder, head = model(64, 256, 64).eval(), model().eval()
class Answer:
    def __init__(self, x):
        h = encoder(x)
        work()
        self.y = head(h).softmax(1)
with torch.no_grad(), Clock() as tick:
    for i in range(60):
        tick()
        Answer(torch.randn(128, 64))
""", 60),
    ("an ensemble: a loop over models for each batch", False, """
members = [model().eval() for _ in range(5)]
with torch.no_grad(), Clock() as tick:
    for i in range(40):
        tick()
        x, total = torch.randn(128, 64), 0
        work(.002)
        for member in members:
            total = total + member(x).softmax(1)
            work(.001)
        best = (total / 5).argmax(1)
""", 40),
    ("a list comprehension over batches", False, """
net.eval()
inputs = [torch.randn(128, 64) for _ in range(80)]
def predict(x):
    tick()
    work()
    return net(x).argmax(1)
with torch.no_grad(), Clock() as tick:
    results = [predict(x) for x in inputs]
""", 80),
    ("generation: a loop over tokens for each prompt", False, """
class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.rnn, self.head = nn.Embedding(50, 64), nn.GRU(64, 64, batch_first=True), nn.Linear(64, 50)
    def forward(self, tokens): return self.head(self.rnn(self.embedding(tokens))[0][:, -1])
language = Language().eval()
@torch.no_grad()
def generate(tokens, count):
    with Clock() as tick:
        for _ in range(count):
            tick()
            logits = language(tokens)
            tokens = torch.cat([tokens, logits.argmax(1, keepdim=True)], 1)
            work(.003)
    return tokens
for prompt in range(5):
    generate(torch.randint(0, 50, (4, 8)), 20)
    time.sleep(.02)
""", 100),
    ("an encoder, then a loop over tokens", False, """
encoder, decoder = model(64, 64, 64).eval(), model(64, 64, 64).eval()
with torch.no_grad(), Clock() as tick:
    for i in range(40):
        tick()
        state = encoder(torch.randn(16, 64))
        for t in range(8):
            state = decoder(state)
            work(.001)
        work(.002)
""", 40),
    ("a DataLoader, inference", False, """
from torch.utils.data import DataLoader, TensorDataset
net.eval()
loader = DataLoader(TensorDataset(torch.randn(1600, 64)), 20)
with torch.no_grad():
    with Clock() as tick:
        for x, in loader:
            tick()
            y = net(x)
            work()
    time.sleep(.2)
""", 80),
    ("evaluation before functional training and in it", True, """
def loss_of(w, x, y): return F.mse_loss(functional_call(net, w, (x,)), y)
def evaluate(w):
    net.eval()
    with torch.no_grad(): losses = [functional_call(net, w, (torch.randn(64, 64),)) for _ in range(5)]
    net.train()
weights = params
evaluate(weights)
for i in range(60):
    with Clock() as tick:
        tick()
        x, y = torch.randn(128, 64), torch.randn(128, 8)
        work()
        g = grad(loss_of)(weights, x, y)
        weights = {name: w - .01 * g[name] for name, w in weights.items()}
    if i % 20 == 19: evaluate(weights)
""", 60),
    ("a closure for LBFGS", False, """
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)
x, y = torch.randn(64, 64), torch.randn(64, 8)
def closure():
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    work(.001)
    return loss
with Clock() as tick:
    for i in range(30):
        tick()
        optimizer.step(closure)
""", 30),
    ("a thread for each request, which calls forward()", False, PARTS + """
def request():
    with torch.no_grad(): answer(torch.randn(64, 64))
for i in range(30):
    thread = threading.Thread(target=request)
    thread.start()
    thread.join()
""", 30),
    ("requests in a pool, of two kinds", False, PARTS + """
from concurrent.futures import ThreadPoolExecutor
def request(i):
    x = torch.randn(64, 64)
    if i % 2: answer(x)
    else:
        with Clock() as tick:
            tick()
            net(x)
with ThreadPoolExecutor(1) as pool: list(pool.map(request, range(30)))
""", 30),
    ("a worker thread with a loop of its own", False, PARTS + """
import queue
requests = queue.Queue()
def worker():
    while True:
        x = requests.get()
        if x is None: return
        answer(x)
thread = threading.Thread(target=worker)
thread.start()
for i in range(30): requests.put(torch.randn(64, 64))
requests.put(None)
thread.join()
""", 30),
    ("requests as tasks of asyncio", False, PARTS + """
import asyncio
async def request(i):
    await asyncio.sleep(.001 * (i % 3))
    answer(torch.randn(64, 64))
async def serve():
    for i in range(10): await asyncio.gather(*(request(i) for i in range(3)))
asyncio.run(serve())
""", 30),
    ("three models in a loop of a thread, each with an input of its own", False, PARTS + """
models = [model() for _ in range(3)]
def thread():
    with Clock() as tick:
        for one in models:
            tick()
            one(torch.randn(64, 64))
threads = [threading.Thread(target=thread) for _ in range(10)]
for one in threads:
    one.start()
    one.join()
""", 30),
    ("the same model in three lines of a thread", False, PARTS + """
def thread():
    with Clock() as tick:
        for line in range(3): tick()
        net(torch.randn(64, 64))
        net(torch.randn(64, 64))
        net(torch.randn(64, 64))
threads = [threading.Thread(target=thread) for _ in range(10)]
for one in threads:
    one.start()
    one.join()
""", 30),
    ("tests of unittest: those without a loop have no step", False, """
import unittest
optimizer = torch.optim.SGD(net.parameters(), lr=.01)
def train(ends=True):
    optimizer.zero_grad()
    work()
    net(torch.randn(64, 64)).sum().backward()
    if ends: optimizer.step()
class Tests(unittest.TestCase):
    def test_a_call(self): net(torch.randn(64, 64))
    def test_a_model_without_gradients(self):
        with torch.no_grad(): net(torch.randn(64, 64))
    def test_tensors(self): torch.ones(3, requires_grad=True).sum().backward()
    def test_gradients(self): train(False)
    def test_once(self): train()
    def test_once_again(self): train()
    def test_loop(self):
        train()
        with Clock() as tick:
            for i in range(40):
                tick()
                train()
unittest.TextTestRunner(verbosity=0).run(unittest.defaultTestLoader.loadTestsFromTestCase(Tests))
""", 40),
    ("models on other workers by RPC, with an optimizer on each", False, """
import os, socket
import torch.distributed as dist
if not dist.is_available() or not hasattr(torch._C, "_rpc_init"): raise SystemExit(77)
import torch.distributed.rpc as rpc, torch.distributed.autograd as dist_autograd
if not hasattr(torch._C._distributed_rpc, "_TensorPipeRpcBackendOptionsBase"): raise SystemExit(77)
from torch.distributed.optim import DistributedOptimizer
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free.getsockname()[1]))
rpc.init_rpc("one", rank=0, world_size=1)
def call(model, x): return model.local_value()(x)
def parameters(model): return [rpc.RRef(p) for p in model.local_value().parameters()]
import __main__
vars(__main__).update(call=call, parameters=parameters)  # where pickle looks for them
class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = rpc.remote("one", nn.Linear, args=(64, 256)), rpc.remote("one", nn.Linear, args=(256, 8))
        self.own = nn.Linear(256, 256)
    def forward(self, x):
        return rpc.rpc_sync("one", call, args=(self.last, self.own(rpc.rpc_sync("one", call, args=(self.first, x)))))
parts = Parts()
theirs = [p for model in (parts.first, parts.last) for p in rpc.rpc_sync("one", parameters, args=(model,))]
optimizer = DistributedOptimizer(torch.optim.SGD, theirs + [rpc.RRef(p) for p in parts.own.parameters()], lr=.01)
with Clock() as tick:
    for i in range(25):
        tick()
        with dist_autograd.context() as context:
            dist_autograd.backward(context, [F.mse_loss(parts(torch.randn(32, 64)), torch.randn(32, 8))])
            optimizer.step(context)
rpc.shutdown()
""", 25),
)


# The programs are not started in a loop of Python: theirs is the only one.
DRIVER = """
import atexit, os, sys, time, traceback
import torch, torch.nn.utils, torch.utils.data
try:
    import torch._dynamo
except ImportError:
    pass
torch.set_num_threads(1)
def run(text, names):
    try:
        exec(compile(text, "script", "exec"), names)
    except SystemExit as end:
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
def start(number):
    sys.stdout.flush()
    child = os.fork()
    if not child:
        runs = []
        status = run(SCRIPTS[number][1], {"__name__": "__main__", "runs": runs, "functional": SCRIPTS[number][0]})
        print("times", number, *(time for run in runs for time in (*run, "end")), flush=True)
        atexit._run_exitfuncs()
        os._exit(status)
    print("program", number, child, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
list(map(start, range(len(SCRIPTS))))
"""


def runs_of(words):
    """The times of each run of a loop."""
    runs = " ".join(words).split("end")
    return [[float(time) for time in run.split()] for run in runs if run.strip()]


def compare(durations, runs, iterations):
    """What is wrong with the steps of a program, and both times in seconds."""
    total, clock = sum(durations), sum(run[-1] - run[0] for run in runs)
    unseen = sum(run[1] - run[0] + run[-1] - run[-2] for run in runs)
    wrong = [] if len(durations) == iterations else [f"{len(durations)} steps, not {iterations}"]
    if not clock * .9 - unseen <= total <= clock * 1.02:
        wrong.append("they do not take as long as the loop")
    return wrong, f"{total:.3f} of {clock:.3f} s"


def main():
    dwell, part = os.path.abspath(sys.argv[1]), (sys.argv + [""])[2]
    scripts, failures = [script for script in SCRIPTS if part in script[0]], 0
    with tempfile.TemporaryDirectory() as folder:
        path, trace = os.path.join(folder, "loops.py"), os.path.join(folder, "t.dwell")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"SCRIPTS = {[(needs, HEAD + text) for _, needs, text, _ in scripts]!r}\n{DRIVER}")
        done = subprocess.run([dwell, "run", "--cost", "full", "-o", trace, "--", sys.executable, path], capture_output=True,
                              text=True, check=False)
        shown = subprocess.run([dwell, "report", "--view", "steps", "-n", "all", "--format", "csv", trace],
                               capture_output=True, text=True, check=False).stdout  # an error if there are no steps
    said = [line.split() for line in done.stdout.splitlines()]
    ended = [list(map(int, words[1:])) for words in said if words[:1] == ["program"]]
    runs = {int(words[1]): runs_of(words[2:]) for words in said if words[:1] == ["times"]}
    if len(ended) != len(scripts):
        print("FAIL the programs run:", done.stdout[-500:], done.stderr[-1500:])
        return 1
    durations = {}
    for row in csv.DictReader(shown.splitlines()):
        named = re.match(r"[^[]*\[(\d+)\] ", row["thread"])
        durations.setdefault(int(named[1]), []).append(int(row["duration_ns"]) / 1e9)
    for number, process, status in ended:
        name, _, _, iterations = scripts[number]
        if status == 77:
            print(f"skip {name}: this PyTorch has not what it needs")
            continue
        wrong, times = ([f"exit status {status}: {done.stderr[-1500:]}"], "") if status else compare(
            durations.get(process, []), runs[number], iterations)
        failures += bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {name}: {'; '.join(wrong) or f'{iterations} steps'}; {times}")
    print(f"PyTorch {TORCH}: {'failed' if failures else 'all passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) > 1 else __doc__)

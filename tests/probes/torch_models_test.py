#!/usr/bin/python3
"""Models of many kinds: dwell's operators are torch.profiler's, of the same run.

usage: torch_models_test.py path/to/dwell

Each model trains in a process of its own under `dwell run --shapes` with torch.profiler on as
well; what both recorded of this process inside one zone must be the same names, counts and shapes. Of
inference in several threads, which torch.profiler does not see, each thread must have what
it saw of one call.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import atexit
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from collections import Counter

import installed

TORCH = installed.need("torch")
if "--train" in sys.argv:
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    from torch.nn.utils.rnn import pack_padded_sequence
    from torch.profiler import ProfilerActivity, profile, record_function
    from torch.utils.checkpoint import checkpoint
    from torch.utils.data import DataLoader, TensorDataset

ZONE, THREADS, USER_SCOPE = "what is compared", 3, 7


def trainer(net, make, optimizer=None):
    optimizer = (optimizer or torch.optim.SGD)(net.parameters(), lr=.01)

    def step():
        optimizer.zero_grad()
        net(*make()).float().square().mean().backward()
        optimizer.step()
    return step


def transformer():
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)
    return trainer(net, lambda: (torch.randn(2, 5, 16),), torch.optim.AdamW)


def packed_rnn():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.out = nn.LSTM(4, 8, 2, batch_first=True, bidirectional=True), nn.Linear(16, 2)

        def forward(self, x, lengths):
            output, _ = self.rnn(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
            return self.out(output.data)
    return trainer(Net(), lambda: (torch.randn(3, 6, 4), torch.tensor([4, 6, 2])))


def gan():
    generator = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(), nn.Linear(8, 6))
    critic = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(), nn.Linear(8, 1))
    ours, theirs = torch.optim.Adam(generator.parameters()), torch.optim.Adam(critic.parameters())

    def step():
        fake = generator(torch.randn(5, 4))
        theirs.zero_grad()
        (critic(fake.detach()).mean() - critic(torch.randn(5, 6)).mean()).backward()
        theirs.step()
        ours.zero_grad()
        (-critic(fake).mean()).backward()
        ours.step()
    return step


def accumulation():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(72, 2))
    optimizer = torch.optim.RMSprop(net.parameters())

    def step():
        for _ in range(4):
            (net(torch.randn(2, 1, 8, 8)).square().mean() / 4).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1)
        optimizer.step()
        optimizer.zero_grad()
    return step


def scaler():
    if not hasattr(torch.amp, "GradScaler"):
        return None
    net, scale = nn.Linear(8, 4), torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD(net.parameters(), lr=.01)

    def step():
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = net(torch.randn(3, 8)).float().square().mean()
        scale.scale(loss).backward()
        scale.step(optimizer)
        scale.update()
    return step


def four_workers():
    net, data = nn.Linear(8, 2), TensorDataset(torch.randn(32, 8), torch.arange(32) % 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=.01)

    def step():
        for x, y in DataLoader(data, 4, num_workers=4):
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
    return step


def checkpointing():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList(nn.Sequential(nn.Linear(6, 6), nn.GELU()) for _ in range(3))

        def forward(self, x):
            for part in self.parts:
                x = checkpoint(part, x, use_reentrant=True)
            return x
    return trainer(Net(), lambda: (torch.randn(4, 6, requires_grad=True),))


def custom_function():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 + ctx.saved_tensors[0] * 0

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(5, 5)

        def forward(self, x):
            return Double.apply(self.layer(x))
    return trainer(Net(), lambda: (torch.randn(3, 5),))


def scripted():
    return trainer(torch.jit.script(nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2))),
                   lambda: (torch.randn(3, 5),))


def compiled():
    if not hasattr(torch, "compile") or not shutil.which("g++"):
        return None
    return trainer(torch.compile(nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2))),
                   lambda: (torch.randn(3, 5),))


def threads():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 2)).eval()

    def call():
        with torch.no_grad():
            net(torch.zeros(2, 1, 8, 8))

    def step():
        call()
    step.beside = call
    return step


MODELS = {"a transformer": transformer, "an RNN with packed sequences": packed_rnn,
          "a GAN with two optimizers": gan, "gradient accumulation": accumulation, "a GradScaler": scaler,
          "a DataLoader with four workers": four_workers, "gradient checkpointing": checkpointing,
          "a custom autograd function": custom_function, "a scripted model": scripted,
          "a compiled model": compiled, "inference in several threads": threads}


def train(name, result):
    # It leaves out an only child with its parent's name; where, depends on its clock.
    torch.autograd.profiler_util.EventList._remove_dup_nodes = lambda events: None
    torch.manual_seed(0)
    torch.set_num_threads(1)
    step = MODELS[name]()
    if not step:
        sys.exit(77)
    for _ in range(3):
        step()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        with record_function(ZONE):
            step()
            step()
    events = [[e.time_range.start, e.time_range.end, e.name,
               [list(s) if isinstance(s, (list, tuple)) else [] for s in e.input_shapes or []], e.scope]
              for e in profiler.events()]
    with open(result, "w", encoding="utf-8") as file:
        file.write(json.dumps({"pid": os.getpid(), "tid": threading.get_native_id(), "events": events}))
    if hasattr(step, "beside"):
        def run():
            with record_function(ZONE):
                step.beside()
                step.beside()
        others = [threading.Thread(target=run) for _ in range(THREADS)]
        for thread in others:
            thread.start()
        for thread in others:
            thread.join()


def inside(events):
    """What lies inside the zone, by time."""
    zone = next(e for e in events if e[2] == ZONE)
    return [e for e in events if e is not zone and e[0] >= zone[0] and e[1] <= zone[1]]


def key(event):
    """Name and shapes; lists of tensors are left empty by 1.13 and by dwell."""
    return event[2], tuple(() if any(isinstance(size, list) for size in sizes) else tuple(sizes)
                           for sizes in event[3])


def ours(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)["traceEvents"]
    return [[e["ts"], e["ts"] + e["dur"], e["name"], e.get("args", {}).get("Input Dims", []),
             e["cat"] == "cpu_op", e["pid"], e["tid"]] for e in trace
            if e["ph"] == "X" and (e["cat"] == "cpu_op" or e.get("args", {}).get("Category") == "zone")]


def without_stacks(more, less):
    """An operator that TorchScript calls gets the interpreter's stack, of which its arguments are the last values. torch.profiler
    takes the shapes of all of them, dwell those of the arguments: these are pairs, and no difference."""
    for name, shapes in list(less):
        for mine in [one for one in more if one[0] == name and len(one[1]) < len(shapes) and shapes[-len(one[1]):] == one[1]]:
            both = min(more[mine], less[name, shapes])
            more[mine] -= both
            less[name, shapes] -= both
    return +more, +less


def compare(mine, theirs):
    """What differs, as words; "" when nothing does."""
    more, less = Counter(mine) - Counter(theirs), Counter(theirs) - Counter(mine)
    if mine and isinstance(mine[0], tuple):
        more, less = without_stacks(more, less)
    return "; ".join((["nothing recorded"] if not mine else []) +
                     ([f"only in dwell {list(more.items())[:3]}"] if more else []) +
                     ([f"only in torch.profiler {list(less.items())[:3]}"] if less else []))


def train_all(folder):
    """Trains each model in a child, since PyTorch takes seconds to import; prints how each ended."""
    if hasattr(torch, "compile"):
        importlib.import_module("torch._dynamo")  # which the first optimizer of each child would import
    for number, name in enumerate(MODELS):
        sys.stdout.flush()
        child = os.fork()
        if not child:
            status = 1
            try:
                train(name, os.path.join(folder, f"{number}.json"))
                status = 0
            except SystemExit as end:
                status = end.code
            except BaseException:
                traceback.print_exc()
            atexit._run_exitfuncs()
            os._exit(status)
        print("model", number, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def check_model(name, status, result, events):
    """(whether it is right, what to print); None: skipped. `events`: of all processes."""
    if status == 77:
        return None, "this PyTorch has no such thing, or there is no g++ for it"
    if status:
        return False, f"it ends with {status}"
    with open(result, encoding="utf-8") as file:
        told = json.load(file)
    theirs = inside(told["events"])
    mine = inside([e for e in events if e[5] == told["pid"]])
    wrong = compare([e[2] for e in mine], [e[2] for e in theirs])
    wrong = wrong or compare([key(e) for e in mine if e[4]], [key(e) for e in theirs if e[4] != USER_SCOPE])
    if name == "inference in several threads" and not wrong:
        threads_of = {e[6] for e in events if e[5] == told["pid"]} - {told["tid"]}
        each = [compare([key(e) for e in inside([e for e in events if e[6] == tid]) if e[4]],
                        [key(e) for e in theirs if e[4] != USER_SCOPE]) for tid in threads_of]
        if len(each) != THREADS or any(each):
            wrong = f"{len(each)} threads: {each}"
    return not wrong, wrong or f"{len(mine)} ranges of {len({e[2] for e in mine})} names"


def main():
    dwell, failures = os.path.abspath(sys.argv[1]), 0
    with tempfile.TemporaryDirectory() as folder:
        trace, chrome = os.path.join(folder, "t.dwell"), os.path.join(folder, "t.json")
        done = subprocess.run([dwell, "run", "--cost", "full", "--shapes", "-o", trace, sys.executable, "-W", "ignore", __file__,
                               "--train", folder], capture_output=True, text=True, check=False)
        statuses = [int(line.split()[2]) for line in done.stdout.splitlines() if line.startswith("model ")]
        if done.returncode or "not known" in done.stderr or len(statuses) != len(MODELS):
            print("FAIL the models train:", done.stderr[-800:])
            return 1
        subprocess.run([dwell, "export", "-f", "chrome", "-o", chrome, trace], check=True)
        events = ours(chrome)
        for number, name in enumerate(MODELS):
            passed, detail = check_model(name, statuses[number], os.path.join(folder, f"{number}.json"), events)
            failures += passed is False
            print(f"{'skip' if passed is None else 'ok  ' if passed else 'FAIL'} {name}: {detail}")
        if failures:
            print(done.stderr[-2000:])
    print(f"PyTorch {TORCH}: {'failed' if failures else 'all passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--train":
        train_all(sys.argv[2])
    elif len(sys.argv) == 2:
        sys.exit(main())
    else:
        sys.exit(__doc__)

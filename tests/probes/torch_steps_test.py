#!/usr/bin/python3
"""Steps of training scripts: as many as their authors would count.

usage: torch_steps_test.py path/to/dwell [part of a script's name]

All scripts run under one `dwell run`, each in a child process of its own that has PyTorch
imported already. Each says after how many steps its author would look; where a script trains in
several threads or processes, each of them has its count. No share of a step may be longer than
the step.

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

# Runs before each script. STEPS is what the script counts itself, by its own variables.
HEAD = """
import threading, torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
def model(inputs=8, outputs=2):
    return nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, outputs))
def batches(count, size=4, inputs=8):
    data = TensorDataset(torch.randn(count * size, inputs), torch.arange(count * size) % 2)
    return DataLoader(data, size)
net = model()
def sgd(module, lr=.01): return torch.optim.SGD(module.parameters(), lr=lr)
def learn(module, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(module(x), y)
    loss.backward()
    optimizer.step()
    return loss
def evaluate(module, loader):
    module.eval()
    with torch.no_grad():
        for x, y in loader: F.cross_entropy(module(x), y)
    module.train()
"""

# Name, script, steps: of the process that runs the script (its main thread if it is a number; if
# it is a list, of each thread or process with steps, in any order).
PARTS = """
class Parts(nn.Module):
    def __init__(self): super().__init__(); self.module = net
    def forward(self, x):
        parts = [None, None]
        def run(i, part): parts[i] = self.module(part)
        threads = [threading.Thread(target=run, args=(i, part)) for i, part in enumerate(x.chunk(2))]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        return torch.cat(parts)
"""

SCRIPTS = (
    ("a classifier with validation after each epoch", """
optimizer = sgd(net)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for epoch in range(3):
    for x, y in batches(5): learn(net, optimizer, x, y)
    evaluate(net, batches(4))
    scheduler.step()
""", 15),
    ("an optimizer, not used until the model was evaluated", """
optimizer = sgd(net)
evaluate(net, batches(4))
for x, y in batches(5): learn(net, optimizer, x, y)
""", 5),
    ("gradients cleared after the step", """
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(2):
    for x, y in batches(3):
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        net.eval(); net(torch.ones(2, 8)); net.train()
""", 6),
    ("a language model: micro steps, clipping, autocast, evaluation every ten steps", """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(16), nn.MultiheadAttention(16, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(x)
class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.blocks = nn.Embedding(20, 16), nn.ModuleList(Block() for _ in range(2))
        self.head = nn.Linear(16, 20)
    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        for block in self.blocks: x = block(x)
        return F.cross_entropy(self.head(x).flatten(0, 1), targets.flatten())
net = Language()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
def text(): return torch.randint(0, 20, (2, 2, 8))
x, y = text()
for i in range(21):
    if i % 10 == 0:
        net.eval()
        with torch.no_grad():
            for _ in range(3): net(*text())
        net.train()
    for micro in range(4):
        with torch.autocast("cpu", dtype=torch.bfloat16): loss = net(x, y) / 4
        x, y = text()
        loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
""", 21),
    ("a recurrent model whose parameters are updated by hand", """
class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.rnn, self.head = nn.Embedding(20, 8), nn.LSTM(8, 8), nn.Linear(8, 20)
    def forward(self, x, state):
        y, state = self.rnn(self.embedding(x), state)
        return self.head(y), state
net, criterion = Recurrent(), nn.CrossEntropyLoss()
def run(count, train):
    state = (torch.zeros(1, 3, 8), torch.zeros(1, 3, 8))
    for i in range(count):
        x, y = torch.randint(0, 20, (2, 5, 3))
        if train: net.zero_grad()
        state = tuple(s.detach() for s in state)
        output, state = net(x, state)
        loss = criterion(output.flatten(0, 1), y.flatten())
        if train:
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), .25)
            for p in net.parameters(): p.data.add_(p.grad, alpha=-.1)
for epoch in range(3):
    net.train(); run(5, True)
    net.eval()
    with torch.no_grad(): run(10, False)
    net.train()
""", 15),
    ("updates by hand without zero_grad, batches from a loader", """
for epoch in range(2):
    for x, y in batches(5):
        F.cross_entropy(net(x), y).backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= .1 * p.grad
                p.grad = None
    evaluate(net, batches(3))
""", 10),
    ("tensors alone, no module, no optimizer", """
w = torch.randn(8, 2, requires_grad=True)
for i in range(12):
    loss = (torch.randn(4, 8) @ w).square().sum()
    loss.backward()
    with torch.no_grad():
        w -= .01 * w.grad
        w.grad = None
""", 12),
    ("tensors and an optimizer, no module", """
w = torch.randn(8, 2, requires_grad=True)
optimizer = torch.optim.Adam([w])
for i in range(12):
    loss = (torch.randn(4, 8) @ w).square().sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
""", 12),
    ("an attack on a model in evaluation mode", """
net.eval()
for i in range(9):
    x = torch.randn(2, 8, requires_grad=True)
    loss = F.cross_entropy(net(x), torch.tensor([0, 1]))
    net.zero_grad()
    loss.backward()
    with torch.no_grad(): net(x + .1 * x.grad.sign())
""", 9),
    ("an autoencoder that saves its model", """
encoder, decoder = model(8, 4), model(2, 8)
class Auto(nn.Module):
    def __init__(self): super().__init__(); self.encoder, self.decoder = encoder, decoder
    def forward(self, x):
        mean, deviation = self.encoder(x).chunk(2, 1)
        return self.decoder(mean + torch.randn_like(mean) * deviation.exp())
import io
net = Auto()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(2):
    for x, y in batches(6):
        optimizer.zero_grad()
        F.mse_loss(net(x), x).backward()
        optimizer.step()
    evaluate(nn.Sequential(encoder), batches(2))
    torch.save(net.state_dict(), io.BytesIO())
""", 12),
    ("two calls of a model in each step", """
optimizer = sgd(net)
for x, y in batches(7):
    optimizer.zero_grad()
    F.mse_loss(net(x), net(x.flip(0))).backward()
    optimizer.step()
""", 7),
    ("gradient accumulation", """
optimizer = torch.optim.SGD(net.parameters(), lr=.1)
for i, (x, y) in enumerate(batches(16, 2)):
    F.cross_entropy(net(x), y).backward()
    if i % 4 == 3:
        optimizer.step(); optimizer.zero_grad()
""", 4),
    ("two optimizers", """
other = nn.Linear(8, 8)
first = torch.optim.Adam(net.parameters())
second = torch.optim.Adam(other.parameters())
for x, y in batches(5):
    first.zero_grad()
    with torch.no_grad():
        fake = other(x)
    (F.cross_entropy(net(x), y) + net(fake).sum()).backward()
    first.step()
    second.zero_grad(); net(other(x)).sum().backward(); second.step()
""", 5),
    ("two optimizers and a loader, the one made last steps first", """
other = nn.Linear(8, 8)
first = torch.optim.Adam(net.parameters())
second = torch.optim.Adam(other.parameters())
for x, y in batches(5):
    second.zero_grad(); net(other(x)).sum().backward(); second.step()
    first.zero_grad(); net(other(x)).sum().backward(); first.step()
""", 5),
    ("a closure", """
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)
x, y = torch.ones(4, 8), torch.tensor([0, 1, 0, 1])
for i in range(3):
    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        return loss
    optimizer.step(closure)
""", 3),
    ("a generator and a discriminator", """
critic, generator = model(8, 1), model(4, 8)
first, second = torch.optim.Adam(critic.parameters()), torch.optim.Adam(generator.parameters())
for x, y in batches(8):
    critic.zero_grad()
    (-critic(x).mean()).backward()
    fake = generator(torch.randn(4, 4))
    critic(fake.detach()).mean().backward()
    first.step()
    generator.zero_grad()
    (-critic(fake).mean()).backward()
    second.step()
""", 8),
    ("a generator and a discriminator, the optimizer made last steps first", """
critic, generator = model(8, 1), model(4, 8)
second, first = torch.optim.Adam(generator.parameters()), torch.optim.Adam(critic.parameters())
for i in range(8):
    first.zero_grad(); critic(torch.randn(4, 8)).mean().backward(); first.step()
    second.zero_grad(); critic(generator(torch.randn(4, 4))).mean().backward(); second.step()
""", 8),
    ("five steps of the discriminator to one of the generator", """
critic, generator = model(8, 1), model(4, 8)
first, second = sgd(critic), sgd(generator)
for i in range(9):
    for k in range(5):
        first.zero_grad(); critic(generator(torch.randn(4, 4)).detach()).mean().backward(); first.step()
    second.zero_grad(); critic(generator(torch.randn(4, 4))).mean().backward(); second.step()
""", 9),
    ("several batches of one optimizer to one step of the other", """
critic, generator = model(8, 1), model(8, 8)
first, second = sgd(critic), sgd(generator)
for i, (x, y) in enumerate(batches(15)):
    first.zero_grad(); critic(x).sum().backward(); first.step()
    if i % 5 == 4:
        second.zero_grad(); critic(generator(x)).sum().backward(); second.step()
""", 15),
    ("a generator that learns in every fifth iteration, without a loader", """
critic, generator = model(8, 1), model(4, 8)
first, second = sgd(critic), sgd(generator)
for i in range(15):
    first.zero_grad(); critic(generator(torch.randn(4, 4)).detach()).mean().backward(); first.step()
    if i % 5 == 0:
        second.zero_grad(); critic(generator(torch.randn(4, 4))).mean().backward(); second.step()
""", 15),
    ("a second optimizer that learns from the seventh iteration on", """
critic, generator = model(8, 1), model(4, 8)
second, first = sgd(critic), sgd(generator)
for i in range(12):
    first.zero_grad(); critic(generator(torch.randn(4, 4))).mean().backward(); first.step()
    if i >= 6:
        second.zero_grad(); critic(generator(torch.randn(4, 4)).detach()).mean().backward(); second.step()
""", 12),
    ("another model learns when the first one does no more", """
one, other = model(8, 1), model(8, 1)
first, second = sgd(one), sgd(other)
def learn_one(module, optimizer):
    optimizer.zero_grad(); module(torch.randn(4, 8)).mean().backward(); optimizer.step()
for i in range(5): learn_one(one, first)
for i in range(7): learn_one(other, second)
""", 12),
    ("an optimizer for each layer", """
layers = nn.Sequential(*(nn.Linear(8, 8) for _ in range(12)))
optimizers = [sgd(layer) for layer in layers]
for x, y in batches(10):
    layers.zero_grad()
    layers(x).sum().backward()
    for optimizer in optimizers: optimizer.step()
""", 10),
    ("optimizers that step during the backward", """
if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"): raise SystemExit(77)
optimizers = {p: torch.optim.SGD([p], lr=.1) for p in net.parameters()}
def hook(p): optimizers[p].step(); optimizers[p].zero_grad()
for p in net.parameters(): p.register_post_accumulate_grad_hook(hook)
for x, y in batches(10): F.cross_entropy(net(x), y).backward()
""", 10),
    ("one model after the other", """
for module in (net, model()):
    optimizer = sgd(module)
    for x, y in batches(5): learn(module, optimizer, x, y)
""", 10),
    ("policy gradient: an episode of calls, then an update", """
policy, optimizer = model(4, 2), None
optimizer = torch.optim.Adam(policy.parameters())
for episode in range(6):
    logs = []
    for t in range(5 + episode):
        chosen = torch.distributions.Categorical(logits=policy(torch.randn(1, 4)))
        logs.append(chosen.log_prob(chosen.sample()))
    optimizer.zero_grad()
    (-torch.cat(logs).sum()).backward()
    optimizer.step()
""", 6),
    ("actor and critic with rollouts that have no gradients", """
policy, value = model(4, 2), model(4, 1)
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()])
for iteration in range(3):
    with torch.no_grad():
        seen = torch.cat([torch.randn(1, 4) + policy(torch.randn(1, 4)).sum() for _ in range(8)])
    for epoch in range(2):
        for part in seen.split(4):
            loss = -policy(part).log_softmax(1)[:, 0].mean() + value(part).square().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), .5)
            optimizer.step()
""", 12),
    ("Q-learning with a target network", """
import copy
target = copy.deepcopy(net)
optimizer, memory = torch.optim.AdamW(net.parameters()), []
for t in range(20):
    state = torch.randn(1, 8)
    with torch.no_grad(): action = net(state).argmax()
    memory.append(state)
    if len(memory) < 8: continue
    x = torch.cat(memory[-8:])
    with torch.no_grad(): best = target(x).max(1).values
    loss = F.smooth_l1_loss(net(x).max(1).values, best)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(net.parameters(), 100)
    optimizer.step()
    target.load_state_dict({k: v * .9 + net.state_dict()[k] * .1 for k, v in target.state_dict().items()})
""", 13),
    ("closures, with an evaluation after each step", """
class Sequence(nn.Module):
    def __init__(self): super().__init__(); self.cell, self.head = nn.LSTMCell(1, 8), nn.Linear(8, 1)
    def forward(self, x):
        state = (torch.zeros(len(x), 8), torch.zeros(len(x), 8))
        return torch.stack([self.head((state := self.cell(part, state))[0]) for part in x.split(1, 1)], 1)
net, criterion = Sequence(), nn.MSELoss()
optimizer = torch.optim.LBFGS(net.parameters(), lr=.8, max_iter=4)
x = torch.randn(3, 6)
for i in range(5):
    def closure():
        optimizer.zero_grad()
        loss = criterion(net(x).squeeze(), x)
        loss.backward()
        return loss
    optimizer.step(closure)
    with torch.no_grad(): criterion(net(x).squeeze(), x)
""", 5),
    ("gradient accumulation, and a validation with gradients", """
optimizer = sgd(net)
for epoch in range(3):
    net.train()
    for i, (x, y) in enumerate(batches(20)):
        (F.cross_entropy(net(x), y) / 4).backward()
        if i % 4 == 3: optimizer.step(); optimizer.zero_grad()
    net.eval()
    for x, y in batches(10): F.cross_entropy(net(x), y).item()
""", 15),
    ("activations computed again in the backward", """
from torch.utils.checkpoint import checkpoint
blocks, head = nn.ModuleList(model(8, 8) for _ in range(3)), nn.Linear(8, 2)
class Net(nn.Module):
    def __init__(self): super().__init__(); self.blocks, self.head = blocks, head
    def forward(self, x):
        x = x.requires_grad_()
        for i, block in enumerate(self.blocks): x = checkpoint(block, x, use_reentrant=i % 2 == 0)
        return self.head(x)
net = Net()
optimizer = torch.optim.AdamW(net.parameters())
for x, y in batches(8): learn(net, optimizer, x, y)
""", 8),
    ("a gradient penalty", """
optimizer = sgd(net)
for x, y in batches(8):
    x.requires_grad_()
    output = net(x)
    penalty, = torch.autograd.grad(output.sum(), x, create_graph=True)
    optimizer.zero_grad()
    (F.cross_entropy(output, y) + penalty.square().sum()).backward()
    optimizer.step()
""", 8),
    ("a scaler that skips steps", """
if not hasattr(torch.amp, "GradScaler"): raise SystemExit(77)
optimizer, scaler = sgd(net), torch.amp.GradScaler("cpu")
for i, (x, y) in enumerate(batches(9)):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16): loss = F.cross_entropy(net(x), y)
    scaler.scale(loss * (float("inf") if i in (0, 1, 5) else 1)).backward()
    scaler.step(optimizer)
    scaler.update()
""", 9),
    ("exceptions in the loop", """
optimizer = sgd(net)
def bad_closure(): raise ValueError
for i in range(12):
    try:
        optimizer.zero_grad()
        net(torch.ones(1, 5 if i == 1 else 8)).sum().backward(torch.ones(3) if i == 4 else None)
        optimizer.step(bad_closure if i == 6 else None)
    except (RuntimeError, ValueError): pass
""", 9),
    ("training in evaluation mode", """
net.eval()
optimizer = sgd(net)
for x, y in batches(6): learn(net, optimizer, x, y)
""", 6),
    ("a student and its teacher", """
teacher = model().eval()
optimizer = sgd(net)
for x, y in batches(6):
    with torch.no_grad(): wanted = teacher(x).softmax(1)
    optimizer.zero_grad()
    F.kl_div(net(x).log_softmax(1), wanted, reduction="batchmean").backward()
    optimizer.step()
""", 6),
    ("a compiled model", """
if not hasattr(torch, "compile"): raise SystemExit(77)
compiled = torch.compile(net, backend="eager")
optimizer = sgd(net)
for x, y in batches(7): learn(compiled, optimizer, x, y)
evaluate(compiled, batches(3))
""", 7),
    ("a compiled training step", """
if not hasattr(torch, "compile"): raise SystemExit(77)
optimizer = sgd(net)
compiled = torch.compile(learn, backend="eager")
for x, y in batches(7): compiled(net, optimizer, x, y)
""", 7),
    ("a model within models, parts of it in threads", PARTS + """
outer = nn.DataParallel(Parts())
optimizer = sgd(outer)
for x, y in batches(6): learn(outer, optimizer, x, y)
""", [6]),
    ("the same without an optimizer", PARTS + """
outer = Parts()
for x, y in batches(6):
    outer.zero_grad()
    F.cross_entropy(outer(x), y).backward()
    for p in outer.parameters(): p.data.add_(p.grad, alpha=-.1)
""", [6]),
    ("a thread trains, then the main thread", """
def train(count):
    module = model()
    optimizer = sgd(module)
    for x, y in batches(count): learn(module, optimizer, x, y)
thread = threading.Thread(target=train, args=(20,))
thread.start(); thread.join()
train(7)
""", [20, 7]),
    ("two threads train at once", """
def train(count):
    module = model()
    optimizer = sgd(module)
    for x, y in batches(count): learn(module, optimizer, x, y)
threads = [threading.Thread(target=train, args=(count,)) for count in (30, 11)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""", [30, 11]),
    ("threads train with optimizers that the main thread made, one after the other and at once", """
modules = [model() for _ in range(3)]
optimizers = [sgd(module) for module in modules]
def train(i, count):
    for x, y in batches(count): learn(modules[i], optimizers[i], x, y)
thread = threading.Thread(target=train, args=(0, 5))
thread.start(); thread.join()
threads = [threading.Thread(target=train, args=(i, 10 + i)) for i in range(3)]
for thread in threads: thread.start()
train(0, 0)
for thread in threads: thread.join()
""", [5, 10, 11, 12]),
    ("a scripted model in a thread, then in coroutines", """
import asyncio
net = torch.jit.script(net)
optimizer = sgd(net)
def train(count):
    for i in range(count): learn(net, optimizer, torch.randn(4, 8), torch.arange(4) % 2)
thread = threading.Thread(target=train, args=(9,))
thread.start(); thread.join()
async def other():
    for _ in range(5): await asyncio.sleep(.001)
async def main():
    task = asyncio.create_task(other())
    for i in range(4): train(2); await asyncio.sleep(0)
    await task
asyncio.run(main())
""", [9, 8]),
    ("threads that update by hand", """
def train(count):
    module = model()
    for i in range(count):
        module.zero_grad()
        module(torch.randn(4, 8)).sum().backward()
        for p in module.parameters(): p.data.add_(p.grad, alpha=-.1)
threads = [threading.Thread(target=train, args=(count,)) for count in (6, 9)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""", [6, 9]),
    ("a thread that evaluates while the main thread trains", """
optimizer, done = sgd(net), threading.Event()
def watch():
    other = model().eval()
    while not done.is_set():
        with torch.no_grad(): other(torch.randn(2, 8))
thread = threading.Thread(target=watch)
for x, y in batches(1): learn(net, optimizer, x, y)
thread.start()
for x, y in batches(12): learn(net, optimizer, x, y)
done.set(); thread.join()
""", [13]),
    ("the program's own torch.profiler", """
from torch.profiler import profile, schedule
optimizer = sgd(net)
with profile(activities=[torch.profiler.ProfilerActivity.CPU],
             schedule=schedule(wait=1, warmup=1, active=2, repeat=2)) as profiler:
    for x, y in batches(9): learn(net, optimizer, x, y); profiler.step()
""", 9),
    ("workers of a loader", """
optimizer = sgd(net)
for epoch in range(2):
    for x, y in DataLoader(TensorDataset(torch.randn(24, 8), torch.arange(24) % 2), 4, num_workers=2, multiprocessing_context="fork"):
        learn(net, optimizer, x, y)
""", [12]),
    ("processes that share a model", """
import torch.multiprocessing as mp
net.share_memory()
def train(count):
    optimizer = sgd(net)
    for x, y in batches(count): learn(net, optimizer, x, y)
    evaluate(net, batches(2))
workers = [mp.get_context("fork").Process(target=train, args=(count,)) for count in (7, 9)]
for worker in workers: worker.start()
for worker in workers: worker.join()
evaluate(net, batches(5))
""", [7, 9]),
    ("two processes of DistributedDataParallel", """
import os, tempfile, torch.distributed as dist, torch.multiprocessing as mp
if not dist.is_available(): raise SystemExit(77)
name = tempfile.mktemp()
def train(rank):
    dist.init_process_group("gloo", init_method="file://" + name, rank=rank, world_size=2)
    global module  # a local one would be freed at the end, where PyTorch 2.13 deadlocks at times
    module = nn.parallel.DistributedDataParallel(net)
    optimizer = sgd(module)
    for i, (x, y) in enumerate(batches(12)):
        loss = F.cross_entropy(module(x), y)
        loss.backward()
        if i % 2: optimizer.step(); optimizer.zero_grad()
    evaluate(module, batches(3))
    dist.destroy_process_group()
workers = [mp.get_context("fork").Process(target=train, args=(rank,)) for rank in range(2)]
for worker in workers: worker.start()
for worker in workers: worker.join()
os.path.exists(name) and os.unlink(name)
if any(worker.exitcode for worker in workers): raise SystemExit(77)
""", [6, 6]),
    ("evaluation before the optimizer is made", """
evaluate(net, batches(4))
optimizer = sgd(net)
for x, y in batches(5): learn(net, optimizer, x, y)
""", 5),
    ("evaluation before parameters are updated by hand", """
evaluate(net, batches(4))
for epoch in range(2):
    for x, y in batches(5):
        net.zero_grad()
        F.cross_entropy(net(x), y).backward()
        for p in net.parameters(): p.data.add_(p.grad, alpha=-.1)
    evaluate(net, batches(4))
""", 10),
    ("evaluation with gradients before anything trains", """
net.eval()
for x, y in batches(6): F.cross_entropy(net(x), y)
net.train()
for x, y in batches(5):
    net.zero_grad()
    F.cross_entropy(net(x), y).backward()
    for p in net.parameters(): p.data.add_(p.grad, alpha=-.1)
""", 5),
    ("a process that evaluates a model before it shares it", """
import torch.multiprocessing as mp
evaluate(net, batches(3))
net.share_memory()
def train(count):
    optimizer = sgd(net)
    for x, y in batches(count): learn(net, optimizer, x, y)
workers = [mp.get_context("fork").Process(target=train, args=(4,))]
for worker in workers: worker.start()
for worker in workers: worker.join()
evaluate(net, batches(5))
""", [4]),
    ("inference", """
net.eval()
with torch.no_grad():
    for x, y in batches(10): net(x)
""", 10),
    ("inference with gradients, in training mode", """
for x, y in batches(10): net(x)
""", 10),
    ("inference in threads", """
import os, time
net.eval()
def serve(count):
    for i in range(count): net(torch.randn(1, 8))
def tasks(): return len(os.listdir("/proc/self/task"))
net(torch.randn(1, 8))
before, waits = tasks(), 1000
threads = [threading.Thread(target=serve, args=(count,)) for count in (3, 1)]
for thread in threads: thread.start()
for thread in threads: thread.join()
while tasks() > before and (waits := waits - 1): time.sleep(.02)  # they end a moment after join()
""", [3, 1, 1]),
)

# Runs the scripts, each in a child; prints their numbers, processes and statuses, and the
# processes that they made and keep in `workers`. A script that takes longer than LIMIT seconds
# prints what its threads do, in each of its processes, and is killed.
LIMIT = 120
DRIVER = """
import atexit, faulthandler, os, signal, sys, time, traceback
import torch, torch.distributed, torch.multiprocessing, torch.utils.checkpoint
try:
    import torch._dynamo  # which the first optimizer of each child would import
except ImportError:
    pass
torch.set_num_threads(1)
faulthandler.register(signal.SIGUSR2)
def wait(child):
    late = time.monotonic() + LIMIT
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > late:
            os.killpg(child, signal.SIGUSR2)
            time.sleep(2)
            os.killpg(child, signal.SIGKILL)
            ended = os.waitpid(child, 0)
            break
        time.sleep(.005)
    return os.waitstatus_to_exitcode(ended[1])
def run(text, names):
    try:
        exec(compile(text, "script", "exec"), names)
    except SystemExit as end:
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
for number, text in enumerate(SCRIPTS):
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        # PyTorch makes its autograd engine anew in a forked child, when it is first used. If two
        # threads use it first at the same time, PyTorch crashes; so it is used here.
        torch.ones(1, requires_grad=True) * torch.ones(1)
        names = {"__name__": "__main__"}
        status = run(text, names)
        print("workers", number, *(worker.pid for worker in names.get("workers", ())), flush=True)
        atexit._run_exitfuncs()
        os._exit(status)
    print("script", number, child, wait(child))
"""


def main():
    dwell, part = os.path.abspath(sys.argv[1]), (sys.argv + [""])[2]
    scripts, failures = [script for script in SCRIPTS if part in script[0]], 0
    with tempfile.TemporaryDirectory() as folder:
        path, trace = os.path.join(folder, "train.py"), os.path.join(folder, "t.dwell")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"SCRIPTS = {[HEAD + text for _, text, _ in scripts]!r}\nLIMIT = {LIMIT}\n{DRIVER}")
        done = subprocess.run([dwell, "run", "--cost", "full", "-o", trace, "--", sys.executable, path], capture_output=True,
                              text=True, check=False)
        said = [line.split() for line in done.stdout.splitlines()]
        ended = [list(map(int, words[1:])) for words in said if words[:1] == ["script"]]
        workers = {int(words[1]): list(map(int, words[2:])) for words in said if words[:1] == ["workers"]}
        if len(ended) != len(scripts):
            print("FAIL the scripts run:", done.stdout[-500:], done.stderr[-1500:])
            return 1
        shown = subprocess.run([dwell, "report", "--view", "steps", "-n", "all", "--format", "csv", trace],
                               capture_output=True, text=True, check=True).stdout
        if os.environ.get("KEEP"):
            os.rename(trace, os.environ["KEEP"])
    counts, wrong_shares = {}, {}
    for row in csv.DictReader(shown.splitlines()):
        named = re.match(r"[^[]*\[(\d+)\] ", row["thread"])  # a rank has its number instead of the process's
        process = int(named[1]) if named else "rank"
        counts.setdefault(process, {}).setdefault(row["thread"], 0)
        counts[process][row["thread"]] += 1
        shares = {name: int(value) for name, value in row.items() if name.endswith("_ns") and value and
                  name not in ("start_ns", "duration_ns", "until_next_ns", "cpu_ns")}
        if sum(shares.values()) > int(row["duration_ns"]):
            wrong_shares.setdefault(process, []).append((row["step"], shares, row["duration_ns"]))
    for number, process, status in ended:
        name, text, wanted = scripts[number]
        if status == 77:
            print(f"skip {name}: this PyTorch has no such thing")
            continue
        inside = [process, *workers.get(number, ()), *(["rank"] if "init_process_group" in text else [])]
        found = sorted(count for other in inside for count in counts.get(other, {}).values())
        wrong = [] if status == 0 else [f"exit status {status}: {done.stderr[-1500:]}"]
        if found != (sorted(wanted) if isinstance(wanted, list) else [wanted]):
            wrong.append(f"{found} steps, not {wanted}")
        for other in inside:
            wrong += [f"shares are longer than the step: {line}" for line in wrong_shares.get(other, [])[:1]]
        failures += bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {name}: {'; '.join(wrong) or f'{wanted} steps'}")
    print(f"PyTorch {TORCH}: {'failed' if failures else 'all passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) > 1 else __doc__)

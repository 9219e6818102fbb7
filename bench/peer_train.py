#!/usr/bin/env python3
"""The Python program that bench/peers.py gives to each tool.

usage: bench/peer_train.py cnn|transformer|operators|calls|start COUNT [kill]

cnn and transformer train for COUNT steps, operators makes COUNT operators of PyTorch, calls makes COUNT calls in Python, start
imports PyTorch. One thread. Prints `cost NS`: the process's CPU time of a step (median), an operator or a call; then `end SECONDS`, the
monotonic clock. With kill, the program ends itself by SIGKILL instead.
"""
import os
import signal
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def leaf(x):
    return x + 1


def caller(x):
    return leaf(leaf(x))


def calls(count):
    began = time.process_time_ns()
    for number in range(count // 3):
        caller(number)
    return (time.process_time_ns() - began) / count


def operators(count):
    import torch
    torch.set_num_threads(1)
    x = torch.ones(1)
    for _ in range(1000):
        x.add_(1)
    began = time.process_time_ns()
    for _ in range(count // 5):
        x.add_(1)  # five operators: PyTorch makes a tensor of the number
    return (time.process_time_ns() - began) / count


def network(kind):
    import torch
    from torch import nn
    if kind == "cnn":
        sys.path.insert(0, os.path.join(HERE, "..", "examples", "pytorch"))
        from resnet import ResNet
        return ResNet(), torch.randn(4, 1, 28, 28), torch.randint(0, 10, (4,))
    layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
    net = nn.Sequential(nn.Embedding(1000, 128), nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), nn.Flatten(), nn.Linear(128 * 32, 10))
    return net, torch.randint(0, 1000, (4, 32)), torch.randint(0, 10, (4,))


def train(kind, count):
    import torch
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net, x, y = network(kind)
    optimizer, costs = torch.optim.SGD(net.parameters(), lr=.01, momentum=.9), []
    for _ in range(count):
        began = time.process_time_ns()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        costs.append(time.process_time_ns() - began)
    return statistics.median(costs[3:])


def main():
    kind, count = sys.argv[1], int(sys.argv[2])
    if kind == "start":
        import torch  # noqa: F401
        cost = 0
    else:
        cost = {"calls": calls, "operators": operators}.get(kind, lambda n: train(kind, n))(count)
    print(f"cost {cost:.1f}", flush=True)
    print(f"end {time.monotonic():.3f}", flush=True)
    if sys.argv[3:] == ["kill"]:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()

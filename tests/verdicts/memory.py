"""Memory: what stays alive, and what the step makes for a moment.

The planted bytes are computed from the sizes of the planted tensors. The line at the end has `mib`, the
planted MiB, and `share`, their part of all tensors that the script knows to be alive at the peak.

keep-graphs    the loop keeps each loss with its graph: activations stay alive       memory-growth
keep-outputs   the loop keeps each step's outputs                                    memory-growth
gradients      gradients are set to zero and not freed: alive in the forward too     memory-owners
temporaries    a metric without gradients makes and drops large tensors              memory-temporaries
small-batch    two sizes of batches; the larger one takes little longer              memory-room

Decoys: what looks alike
old-copy       a copy of the first parameters stays alive: no gradients
cache          a cache of samples grows in the first twenty steps, then is full
keep-numbers   the loop keeps each loss as a number
sawtooth       a list of outputs grows and is emptied every ten steps
large-batch    two sizes of batches; twice the images take twice the time
"""
import torch
from torch import nn
from torch.nn import functional

from planted import Mixer, Run, Training, images

MIB = 1 << 20
run = Run()
cause, share = run.cause, run.share
PARAMETERS_MIB = 24


class Large(nn.Module):
    """The network and a large layer: parameters of known size."""

    def __init__(self):
        super().__init__()
        self.net = Mixer()
        self.large = nn.Parameter(torch.randn(PARAMETERS_MIB * MIB // 4 // 1024, 1024) * 0.01)

    def forward(self, x):
        return self.net(x) + self.large[:8].mean()


def tensor_mib(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors) / MIB


def keep_loop():
    """Keeps tensors in each step; `share` is the planted part of the MiB of the model and of kept tensors."""
    training, kept = Training(), []
    batches = [images() for _ in range(8)]
    # The kept tensors are this share of the peak; the rest of the peak is about 60 MiB.
    each_mib = 60 * share / (1 - share) / run.count
    if cause == "keep-graphs" and share:
        each_mib = max(each_mib, 0.1)
    for number in run.steps():
        x, y = batches[number % 8]
        training.optimizer.zero_grad()
        out = training.model(x)
        loss = functional.cross_entropy(out, y)
        loss.backward()
        training.optimizer.step()
        count = int(each_mib * MIB / 4)
        if cause == "keep-graphs" and share:
            weight = torch.ones(count, requires_grad=True)
            kept.append((weight * weight.detach()).sum())  # the graph holds both factors
        elif cause == "keep-outputs" and share:
            kept.append(torch.zeros(count))
        elif cause == "cache" and number < 20:
            kept.append(torch.zeros(2 * MIB // 4))
        elif cause == "keep-numbers":
            kept.append(loss.item())
        elif cause == "sawtooth":
            kept = kept if number % 10 else []
            kept.append(torch.zeros(2 * MIB // 4))
    planted = each_mib * run.count
    run.say(mib=round(planted, 1), bytes_a_step=round(each_mib * MIB))
    return planted / (planted + 60) if share else 0.0


def owners_loop():
    """`share` is the planted part of parameters, gradients and the copy."""
    model = Large()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    batches = [images() for _ in range(8)]
    rows = int(PARAMETERS_MIB * MIB / 4 / 1024 * 2 * share / (1 - share)) if share else 0
    copy = torch.zeros(rows, 1024) if cause == "old-copy" else None
    for number in run.steps():
        x, y = batches[number % 8]
        optimizer.zero_grad(set_to_none=cause != "gradients" or not share)
        functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    parameters = tensor_mib(model.parameters())
    planted = parameters if cause == "gradients" and share else tensor_mib([copy]) if copy is not None else 0
    run.say(mib=round(planted, 1))
    return planted / (2 * parameters + (planted if copy is not None else 0))


def temporaries_loop():
    """`share` is the planted part of what is alive at the peak; the data set and the network take about 80 MiB."""
    training, batches = Training(), [images() for _ in range(8)]
    data_set = torch.zeros(int(64 * MIB / 4))
    mib = 80 * share / (1 - share)
    for number in run.steps():
        training.one(batches[number % 8])
        if share:
            with torch.no_grad(), run.planting():
                torch.zeros(int(mib / 2 * MIB / 4)).add_(1).sqrt().mean()
    run.say(mib=round(mib, 1), data_set=data_set.numel())
    return share


def batch_loop():
    """Batches of two sizes; `time_ratio` is the time of the larger one by that of the smaller."""
    small, times = (8 if cause == "large-batch" else 1), {False: [], True: []}
    model = Mixer()
    if cause == "small-batch" and share:
        # Dispatch takes longer than the work of an image does.
        model = nn.Sequential(nn.Flatten(), nn.Linear(3072, 32), *(nn.Linear(32, 32) for _ in range(60)), nn.Linear(32, 10))
    training = Training(model)
    batches = {big: images(small * (2 if big else 1)) for big in (False, True)}
    for number in run.steps():
        big = number % 2 == 1
        training.one(batches[big])
    periods = [b - a for a, b in zip(run.begins, run.begins[1:])]
    for number, period in enumerate(periods[10:]):
        times[number % 2 == 1].append(period)
    middle = {big: sorted(values)[len(values) // 2] for big, values in times.items()}
    run.say(time_ratio=round(middle[True] / middle[False], 3))
    return share


LOOPS = {"gradients": owners_loop, "old-copy": owners_loop, "temporaries": temporaries_loop, "small-batch": batch_loop,
         "large-batch": batch_loop}
part = LOOPS.get(cause, keep_loop)()
run.say(share=round(part, 4))
run.close()

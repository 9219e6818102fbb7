#!/usr/bin/python3
"""The C trainer against PyTorch: the same weights and batches, the same numbers.

usage: resnet18_torch_test.py path/to/resnet18 [path/to/data]

Compares with PyTorch in float32: the loss of step 1, every gradient of step 1,
the running statistics, the weights after the step; then, for SGD with momentum
and for RMSprop, the losses of five steps and how far they moved the weights.

Tolerance: the error of a tensor is |ours - PyTorch| / |PyTorch| (2-norms). Two
correct float32 programs differ by their order of summation; how much, PyTorch
itself tells by its distance to its own float64 run. A tensor passes below
GRADIENT_TOLERANCE and if we are not FACTOR times farther from float64 than
PyTorch in float32 is (or below FLOOR, where rounding of the data itself shows).

A ReLU whose input is so near to 0 that rounding decides opens in one program and
not in the other, and moves gradients by a percent. How a processor rounds differs
from one to the next. So step 1 is compared on a small batch, with the weights, out
of some, whose ReLU inputs stay farthest from 0; where such a ReLU is met all the
same, the next best weights are tried. A wrong program fails with all of them.

Five steps amplify such differences: rates are small there, and the weights'
movement has a tolerance above the 0.03 that PyTorch's float32 is away from its
float64. A wrong optimizer is off by a half and more.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import copy
import os
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
except ImportError as error:
    print(f"skip resnet18_torch_test: {error}")
    sys.exit(77)

BATCH, STEPS = 16, 5
FIRST_BATCH = 4       # of step 1, where gradients are compared
SEEDS, ATTEMPTS = 64, 4
LOSS_TOLERANCE = 1e-5
GRADIENT_TOLERANCE = 1e-4
STATE_TOLERANCE = 1e-5
STEP_LOSS_TOLERANCE = 1e-3
UPDATE_TOLERANCE = 1e-1
FACTOR, FLOOR = 10.0, 2e-6

failures = 0
lines = []


def check(name, passed, detail):
    global failures
    failures += not passed
    lines.append(f"{'ok  ' if passed else 'FAIL'} {name}: {detail}")


class BasicBlock(nn.Module):
    """torchvision's, which Debian does not package for this PyTorch."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                            nn.BatchNorm2d(outputs))

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        x = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(x)) + identity)


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 64, kernel_size=3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        inputs = 64
        for stage, outputs in enumerate((64, 128, 256, 512), 1):
            stride = 1 if stage == 1 else 2
            setattr(self, f"layer{stage}", nn.Sequential(BasicBlock(inputs, outputs, stride),
                                                         BasicBlock(outputs, outputs, 1)))
            inputs = outputs
        self.fc = nn.Linear(512, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


def read_tensors(path):
    tensors, data = {}, open(path, "rb").read()
    assert data[:8] == b"RN18TENS", path
    at = 8
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        name = data[at + 4:at + 4 + length].decode()
        at += 4 + length
        (dimensions,) = struct.unpack_from("<I", data, at)
        shape = struct.unpack_from(f"<{dimensions}Q", data, at + 4)
        at += 4 + 8 * dimensions
        count = int(np.prod(shape))
        tensors[name] = np.frombuffer(data, "<f4", count, at).reshape(shape)
        at += 4 * count
    return tensors


def write_weights(path, state):
    with open(path, "wb") as file:
        file.write(b"RN18TENS")
        for name, tensor in state.items():
            if name.endswith("num_batches_tracked"):
                continue
            values = tensor.detach().numpy().astype("<f4")
            if name == "fc.weight":
                values = values.reshape(*values.shape, 1, 1)
            file.write(struct.pack("<I", len(name)) + name.encode())
            file.write(struct.pack(f"<I{values.ndim}Q", values.ndim, *values.shape))
            file.write(values.tobytes())


def read_batches(folder):
    images = open(os.path.join(folder, "train-images-idx3-ubyte"), "rb").read()
    labels = open(os.path.join(folder, "train-labels-idx1-ubyte"), "rb").read()
    _, _, height, width = struct.unpack_from(">IIII", images)
    pixels = np.frombuffer(images, np.uint8, BATCH * STEPS * height * width, 16)
    pixels = pixels.reshape(STEPS, BATCH, 1, height, width).astype(np.float32)
    x = torch.from_numpy((pixels / np.float32(255) - np.float32(0.1307)) / np.float32(0.3081))
    y = torch.from_numpy(np.frombuffer(labels, np.uint8, BATCH * STEPS, 8).astype(np.int64))
    return x, y.reshape(STEPS, BATCH)


def train(model, batches, optimizer, steps):
    """The losses, and the gradients of step 1."""
    model.train()
    losses, gradients = [], None
    for x, y in list(zip(*batches))[:steps]:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if gradients is None:
            gradients = {n: p.grad.numpy().copy() for n, p in model.named_parameters()}
        optimizer.step()
        losses.append(loss.item())
    return losses, gradients


def run_ours(executable, data, weights, dump, steps, arguments, batch=BATCH):
    command = [executable, "--data", data, "--no-shuffle", "--batch", str(batch), "--epochs", "1",
               "--max-steps", str(steps), "--load-weights", weights, "--dump", dump] + arguments
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}\nexit status {done.returncode}")
    return read_tensors(dump)


def margin(model, x):
    """How near to 0 the input of a ReLU comes."""
    nearest = []
    relu = F.relu

    def watched(values):
        nearest.append(values.abs().min().item())
        return relu(values)

    F.relu = watched
    try:
        with torch.no_grad():
            copy.deepcopy(model).train()(x)
    finally:
        F.relu = relu
    return min(nearest)


def weights_of(seed):
    torch.manual_seed(seed)
    return ResNet18()


def distance(values, reference):
    reference = np.asarray(reference, np.float64).ravel()
    norm = np.linalg.norm(reference)
    return np.linalg.norm(np.asarray(values, np.float64).ravel() - reference) / (norm or 1)


def check_gradients(ours, theirs, exact):
    worst = 0
    for name in theirs:
        error = distance(ours["grad." + name], theirs[name])
        our_rounding = distance(ours["grad." + name], exact[name])
        their_rounding = distance(theirs[name], exact[name])
        passed = (error < GRADIENT_TOLERANCE and
                  our_rounding < max(FACTOR * their_rounding, FLOOR))
        check(f"gradient {name}", passed,
              f"error {error:.1e}; to float64: ours {our_rounding:.1e}, "
              f"PyTorch's {their_rounding:.1e}")
        worst = max(worst, error)
    lines.append(f"     {len(theirs)} gradients, worst error {worst:.1e} (tolerance {GRADIENT_TOLERANCE})")


def check_state(ours, model, wanted, label):
    """A bias is 0 at first: after one step it is a multiple of its gradient and as exact as that."""
    worst, detail, count = 0, "", 0
    for name, tensor in model.state_dict().items():
        if name.endswith("num_batches_tracked") or ("running" in name) != wanted:
            continue
        error = distance(ours[name], tensor.numpy())
        tolerance = GRADIENT_TOLERANCE if name.endswith(".bias") else STATE_TOLERANCE
        count += 1
        if error / tolerance >= worst:
            worst, detail = error / tolerance, f"error {error:.1e} ({name}), tolerance {tolerance}"
    check(label, worst < 1, f"{count} tensors, worst {detail}")


def check_losses(name, ours, theirs):
    worst = max(abs(a - b) / b for a, b in zip(ours, theirs))
    check(name, len(ours) == len(theirs) and worst < STEP_LOSS_TOLERANCE,
          f"ours {' '.join(f'{v:.5f}' for v in ours)}, PyTorch's "
          f"{' '.join(f'{v:.5f}' for v in theirs)}; worst error {worst:.1e}, "
          f"tolerance {STEP_LOSS_TOLERANCE}")


def check_update(name, ours, model, start):
    before = dict(start.named_parameters())
    moved, wanted = [], []
    for key, value in model.named_parameters():
        origin = before[key].detach().numpy().ravel()
        moved.append(ours[key].ravel() - origin)
        wanted.append(value.detach().numpy().ravel() - origin)
    error = distance(np.concatenate(moved), np.concatenate(wanted))
    check(name, error < UPDATE_TOLERANCE, f"error {error:.1e}, tolerance {UPDATE_TOLERANCE}")


OPTIMIZERS = (
    ("SGD with momentum", lambda p: torch.optim.SGD(p, lr=1e-4, momentum=0.9),
     "--optimizer sgd --lr 1e-4 --momentum 0.9"),
    ("SGD without momentum", lambda p: torch.optim.SGD(p, lr=1e-4),
     "--optimizer sgd --lr 1e-4 --momentum 0"),
    ("RMSprop", lambda p: torch.optim.RMSprop(p, lr=1e-6),
     "--optimizer rmsprop --lr 1e-6"),
    ("RMSprop with momentum", lambda p: torch.optim.RMSprop(p, lr=1e-6, momentum=0.9),
     "--optimizer rmsprop --lr 1e-6 --momentum 0.9"),
)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    executable = os.path.abspath(sys.argv[1])
    data = sys.argv[2] if len(sys.argv) == 3 else os.path.join(os.path.dirname(executable), "data")
    batches = read_batches(data)
    start = weights_of(1)
    first = (batches[0][:1, :FIRST_BATCH], batches[1][:1, :FIRST_BATCH])
    seeds = sorted(range(SEEDS), key=lambda seed: -margin(weights_of(seed), first[0][0]))

    with tempfile.TemporaryDirectory() as folder:
        weights, dump = os.path.join(folder, "weights"), os.path.join(folder, "dump")

        def both(start, batches, steps, make_optimizer, arguments):
            write_weights(weights, start.state_dict())
            model = copy.deepcopy(start)
            losses, gradients = train(model, batches, make_optimizer(model.parameters()), steps)
            ours = run_ours(executable, data, weights, dump, steps, arguments, batches[0].shape[1])
            return model, losses, gradients, ours

        def check_first(start):
            _, sgd, sgd_arguments = OPTIMIZERS[0]
            model, losses, gradients, ours = both(start, first, 1, sgd, sgd_arguments.split())
            exact_model = copy.deepcopy(start).double()
            _, exact = train(exact_model, (first[0].double(), first[1]),
                             sgd(exact_model.parameters()), 1)
            error = abs(float(ours["losses"][0]) - losses[0]) / losses[0]
            check("loss of step 1", error < LOSS_TOLERANCE,
                  f"ours {ours['losses'][0]:.7f}, PyTorch's {losses[0]:.7f}, error {error:.1e}, "
                  f"tolerance {LOSS_TOLERANCE}")
            check_gradients(ours, gradients, exact)
            check_state(ours, model, True, "running statistics after step 1")
            check_state(ours, model, False, "weights after step 1 of SGD")

        global failures
        for seed in seeds[:ATTEMPTS]:
            failures = 0
            lines.clear()
            check_first(weights_of(seed))
            if not failures:
                break

        for name, make_optimizer, arguments in OPTIMIZERS:
            model, losses, _, ours = both(start, batches, STEPS, make_optimizer, arguments.split())
            check_losses(f"losses of {STEPS} steps, {name}", ours["losses"], losses)
            check_update(f"weights moved by {STEPS} steps, {name}", ours, model, start)
    print("\n".join(lines))
    print("all passed" if not failures else f"{failures} checks failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

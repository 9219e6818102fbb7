#!/usr/bin/python3
"""FLOPs of PyTorch's operators: as counted by hand, and by torch.utils.flop_counter where it counts the operator.

usage: torch_flops_test.py path/to/dwell

Each formula of doc/reference/flops.md that is of an operator of PyTorch is used by that operator. Where
FlopCounterMode counts something else, the case has its number with the reason, which the page lists too.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

import built
import installed

VERSION = installed.need("torch")
BUILD = os.path.dirname(os.path.abspath(sys.argv[1]))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
built.enter(BUILD)
sys.path.insert(0, os.path.join(ROOT, "python"))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import dwell  # noqa: E402

try:
    from torch.utils.flop_counter import FlopCounterMode
except ImportError:  # before 2.1
    FlopCounterMode = None
warnings.simplefilter("ignore")
torch.manual_seed(0)
torch.set_num_threads(1)

ATEN = torch.ops.aten
OLD = VERSION.startswith("1.")
counts = {True: 0, False: 0}
covered = set()


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


def counted(run):
    """What dwell counts: FLOPs by operator, the operators that have a count, and why others have none."""
    with dwell.profile(with_flops=True) as prof:
        run()
    view = prof.view("flops")
    tables = json.loads(view.format("json"))["views"]
    rows = [dict(zip([column["name"] for column in tables[0]["columns"]], row)) for row in tables[0]["rows"]]
    missed = [dict(zip([column["name"] for column in tables[1]["columns"]], row)) for row in tables[1]["rows"]]
    averages = {row.key: row.flops for row in prof.key_averages() if row.flops}
    return {row["name"]: row["flops"] for row in rows}, {row["name"]: row["why"] for row in missed}, averages


SAME = "as by hand"


def case(operator, hand, run, counter=None):
    """`counter`: what FlopCounterMode counts; None: it does not count this operator."""
    name = operator.split("::")[-1]
    rows, missed, averages = counted(run)
    wrong = []
    if rows.get(operator) != hand:
        wrong.append(f"dwell counts {rows.get(operator)}, by hand {hand}; all {rows}, not counted {missed}")
    if {key: value for key, value in rows.items() if value} != averages:
        wrong.append(f"the flops view has {rows}, key_averages() {averages}")
    if any(type(value) is not int for value in averages.values()):
        wrong.append(f"not whole numbers: {averages}")
    if FlopCounterMode and counter is not None:
        mode = FlopCounterMode(display=False)
        with mode:
            run()
        wanted = hand if counter is SAME else counter
        if mode.get_total_flops() != wanted:
            wrong.append(f"FlopCounterMode counts {mode.get_total_flops()}, not {wanted}")
    covered.add(name[:-1] if name.endswith("_") and not name.startswith("_") else name)
    check(f"{operator}: {hand:,}", not wrong, "; ".join(wrong))


def t(*sizes, grad=False):
    return torch.ones(sizes, requires_grad=grad)


def backward(result, *inputs):
    """A function that computes the gradients of these inputs."""
    gradient = torch.ones_like(result)
    return lambda: torch.autograd.grad(result, inputs, gradient, retain_graph=True)


# ---- convolutions --------------------------------------------------------------------------------

def convolutions():
    """2 x batch x places of the output x elements of the weight."""
    case("aten::conv1d", 2 * 2 * 8 * (4 * 3 * 3), lambda: F.conv1d(t(2, 3, 10), t(4, 3, 3)), SAME)
    case("aten::conv1d", 2 * 8 * (4 * 3 * 3), lambda: F.conv1d(t(3, 10), t(4, 3, 3)), SAME)  # no batch
    case("aten::conv1d", 2 * 2 * 5 * (4 * 3 * 3), lambda: F.conv1d(t(2, 3, 9), t(4, 3, 3), stride=2, padding=1), SAME)
    # 9 wide, padding 1, stride 2: (9 + 2 - 3) / 2 + 1 = 5; 9 wide, 3 places with holes of 1: 9 - 5 + 1 = 5.
    case("aten::conv2d", 2 * 2 * 25 * (6 * 4 * 9),
         lambda: F.conv2d(t(2, 4, 9, 9), t(6, 4, 3, 3), t(6), stride=(2, 1), padding=(1, 0), dilation=(1, 2)), SAME)
    case("aten::conv2d", 2 * 2 * 81 * (6 * 2 * 9), lambda: F.conv2d(t(2, 4, 9, 9), t(6, 2, 3, 3), padding=1, groups=2), SAME)
    case("aten::conv2d", 2 * 2 * 49 * (8 * 1 * 9), lambda: F.conv2d(t(2, 4, 9, 9), t(8, 1, 3, 3), groups=4), SAME)
    case("aten::conv2d", 0, lambda: F.conv2d(t(0, 4, 9, 9), t(6, 4, 3, 3)), SAME)
    case("aten::conv3d", 2 * 2 * (2 * 3 * 4) * (6 * 2 * 8), lambda: F.conv3d(t(2, 2, 3, 4, 5), t(6, 2, 2, 2, 2)), SAME)
    case("aten::conv3d", 2 * 2 * (2 * 2 * 3) * (4 * 1 * 8),
         lambda: F.conv3d(t(2, 2, 3, 4, 5), t(4, 1, 2, 2, 2), stride=2, padding=(1, 0, 1), groups=2), SAME)
    # A text for the padding is no integer: the operator inside counts.
    case("aten::convolution", 2 * 64 * (3 * 2 * 9), lambda: F.conv2d(t(1, 2, 8, 8), t(3, 2, 3, 3), padding="same"), SAME)
    case("aten::convolution", 2 * 36 * (3 * 2 * 9), lambda: F.conv2d(t(1, 2, 8, 8), t(3, 2, 3, 3), padding="valid"), SAME)
    for transposed, places in ((False, 9), (True, 25)):
        case("aten::convolution", 2 * places * (2 * 2 * 9),
             lambda transposed=transposed: ATEN.convolution(t(1, 2, 5, 5), t(2, 2, 3, 3), None, [1, 1], [0, 0], [1, 1], transposed, [0, 0], 1),
             SAME)
    case("aten::_convolution", 2 * 9 * (2 * 2 * 9),
         lambda: ATEN._convolution(t(1, 2, 5, 5), t(2, 2, 3, 3), None, [1], [0], [1], False, [0], 1, False, False, True, True), SAME)


def transposed_convolutions():
    """2 x batch x places of the input x elements of the weight."""
    case("aten::conv_transpose1d", 2 * 3 * 5 * (2 * 4 * 3), lambda: F.conv_transpose1d(t(3, 2, 5), t(2, 4, 3)), SAME)
    case("aten::conv_transpose2d", 2 * 25 * (2 * 4 * 9),
         lambda: F.conv_transpose2d(t(1, 2, 5, 5), t(2, 4, 3, 3), t(4), stride=2, padding=1, output_padding=1), SAME)
    case("aten::conv_transpose2d", 2 * 2 * 25 * (4 * 3 * 9),
         lambda: F.conv_transpose2d(t(2, 4, 5, 5), t(4, 3, 3, 3), groups=2, dilation=2), SAME)
    case("aten::conv_transpose3d", 2 * 8 * (2 * 1 * 8), lambda: F.conv_transpose3d(t(1, 2, 2, 2, 2), t(2, 1, 2, 2, 2)), SAME)


def convolutions_backward():
    """The same for each gradient of input and weight."""
    def gradients(convolution, sizes, weight, wanted="xw", **options):
        x, w = t(*sizes, grad="x" in wanted), t(*weight, grad="w" in wanted)
        return backward(convolution(x, w, **options), *[x] * ("x" in wanted), *[w] * ("w" in wanted))
    name = "aten::convolution_backward"
    one = 2 * 2 * 8 * (4 * 3 * 3)
    case(name, 2 * one, gradients(F.conv1d, (2, 3, 10), (4, 3, 3)), SAME)
    case(name, one, gradients(F.conv1d, (2, 3, 10), (4, 3, 3), "x"), SAME)
    case(name, one, gradients(F.conv1d, (2, 3, 10), (4, 3, 3), "w"), SAME)
    case(name, 2 * 2 * 2 * 25 * (6 * 4 * 9),
         gradients(F.conv2d, (2, 4, 9, 9), (6, 4, 3, 3), stride=(2, 1), padding=(1, 0), dilation=(1, 2)), SAME)
    case(name, 2 * 2 * 2 * 24 * (6 * 2 * 8), gradients(F.conv3d, (2, 2, 3, 4, 5), (6, 2, 2, 2, 2)), SAME)
    # FlopCounterMode takes the weight's gradient as that of a convolution without groups.
    one = 2 * 2 * 49 * (6 * 2 * 9)
    case(name, 2 * one, gradients(F.conv2d, (2, 4, 9, 9), (6, 2, 3, 3), groups=2), one + 2 * one)
    one = 2 * 2 * 49 * (8 * 1 * 9)
    case(name, 2 * one, gradients(F.conv2d, (2, 4, 9, 9), (8, 1, 3, 3), groups=4), one + 4 * one)
    case(name, 2 * 2 * 25 * (2 * 4 * 9), gradients(F.conv_transpose2d, (1, 2, 5, 5), (2, 4, 3, 3), stride=2, padding=1), SAME)
    one = 2 * 25 * (4 * 3 * 9)
    case(name, 2 * one, gradients(F.conv_transpose2d, (1, 4, 5, 5), (4, 3, 3, 3), groups=2), one + 2 * one)


# ---- products ------------------------------------------------------------------------------------

def products():
    case("aten::mm", 2 * 4 * 5 * 6, lambda: torch.mm(t(4, 5), t(5, 6)), SAME)
    case("aten::addmm", 2 * 4 * 5 * 6, lambda: torch.addmm(t(6), t(4, 5), t(5, 6)), SAME)
    case("aten::bmm", 7 * 2 * 4 * 5 * 6, lambda: torch.bmm(t(7, 4, 5), t(7, 5, 6)), SAME)
    case("aten::baddbmm", 7 * 2 * 4 * 5 * 6, lambda: torch.baddbmm(t(7, 4, 6), t(7, 4, 5), t(7, 5, 6)), SAME)
    case("aten::matmul", 21 * 2 * 4 * 5 * 6, lambda: torch.matmul(t(3, 1, 4, 5), t(7, 5, 6)), SAME)
    case("aten::linear", 2 * 2 * 3 * 8 * 10, lambda: F.linear(t(2, 3, 8), t(10, 8), t(10)), SAME)
    case("aten::linear", 0, lambda: F.linear(t(0, 8), t(10, 8)), SAME)
    # FlopCounterMode has no formula for products with a vector.
    case("aten::mv", 2 * 4 * 5, lambda: torch.mv(t(4, 5), t(5)), 0)
    case("aten::addmv", 2 * 4 * 5, lambda: torch.addmv(t(4), t(4, 5), t(5)), 0)
    case("aten::dot", 2 * 5, lambda: torch.dot(t(5), t(5)), 0)
    case("aten::vdot", 2 * 5, lambda: torch.vdot(t(5), t(5)), 0)
    # einsum is a product, and operators that move.
    case("aten::bmm", 3 * 2 * 4 * 5 * 6, lambda: torch.einsum("bij,bjk->bik", t(3, 4, 5), t(3, 5, 6)), SAME)
    case("aten::bmm", 2 * 2 * 4 * 64 * 4, lambda: torch.einsum("bchw,bdhw->bcd", t(2, 4, 8, 8), t(2, 4, 8, 8)), SAME)
    x = t(4, 5, grad=True)
    case("aten::mm", 2 * 4 * 5 * 6, backward(torch.mm(x, t(5, 6)), x), SAME)


def attention():
    """2 BHLS (E + Ev), also with a causal mask; the backward 2 BHLS (3 E + 2 Ev)."""
    q, k, v = t(2, 3, 10, 8), t(2, 3, 20, 8), t(2, 3, 20, 16)
    hand = 2 * (2 * 3 * 10 * 20) * (8 + 16)
    if OLD:
        case("aten::_scaled_dot_product_attention_math", hand, lambda: ATEN._scaled_dot_product_attention_math(q, k, v))
        return
    case("aten::scaled_dot_product_attention", hand, lambda: F.scaled_dot_product_attention(q, k, v), SAME)
    case("aten::scaled_dot_product_attention", hand, lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True), SAME)
    case("aten::_scaled_dot_product_attention_math", hand, lambda: ATEN._scaled_dot_product_attention_math(q, k, v), SAME)
    q, k, v = (t(2, 3, 10, 8, grad=True) for _ in range(3))
    result = F.scaled_dot_product_attention(q, k, v)
    # FlopCounterMode has no formula for the CPU's flash attention, which is what runs here.
    case("aten::scaled_dot_product_attention", 2 * 600 * (8 + 8), lambda: F.scaled_dot_product_attention(q, k, v), 0)
    case("aten::_scaled_dot_product_flash_attention_for_cpu", 2 * 600 * (8 + 8),
         lambda: ATEN._scaled_dot_product_flash_attention_for_cpu(q, k, v), 0)
    case("aten::_scaled_dot_product_flash_attention_for_cpu_backward", 2 * 600 * (3 * 8 + 2 * 8), backward(result, q, k, v), 0)
    if "gqa" in str(ATEN.scaled_dot_product_attention.default._schema):
        case("aten::scaled_dot_product_attention", 2 * (2 * 4 * 10 * 10) * (8 + 8),
             lambda: F.scaled_dot_product_attention(t(2, 4, 10, 8), t(2, 2, 10, 8), t(2, 2, 10, 8), enable_gqa=True))


# ---- by element ----------------------------------------------------------------------------------

def elements():
    a, b = t(2, 1, 4), t(3, 1)  # broadcast to 2 x 3 x 4
    for name in ("add", "sub", "rsub", "mul", "div", "pow", "maximum", "minimum"):
        case("aten::" + name, 24, lambda name=name: getattr(torch, name)(a, b))
    case("aten::add_", 24, lambda: t(2, 3, 4).add_(b))
    case("aten::mul", 8, lambda: a * 2.5)
    case("aten::pow", 8, lambda: 2 ** a)
    case("aten::div", 0, lambda: t(0, 4) / 2)
    case("aten::addcmul", 3 * 24, lambda: torch.addcmul(t(4), a, b))
    case("aten::addcdiv", 3 * 24, lambda: torch.addcdiv(t(4), a, b))
    case("aten::lerp", 3 * 8, lambda: torch.lerp(a, a, 0.5))
    for name in ("neg", "abs", "sqrt", "rsqrt", "exp", "log", "tanh", "sigmoid", "reciprocal", "relu", "sum", "mean"):
        case("aten::" + name, 8, lambda name=name: getattr(torch, name)(a))
    case("aten::relu_", 8, lambda: t(2, 4).relu_())
    case("aten::clamp", 8, lambda: torch.clamp(a, 0, 1))
    case("aten::clamp_min", 8, lambda: ATEN.clamp_min(a, 0))
    case("aten::threshold_backward", 8, lambda: ATEN.threshold_backward(a, a, 0))
    x = t(4, 10)
    case("aten::softmax", 5 * 40, lambda: torch.softmax(x, 1))
    case("aten::log_softmax", 5 * 40, lambda: torch.log_softmax(x, 1))
    case("aten::_softmax", 5 * 40, lambda: ATEN._softmax(x, 1, False))
    case("aten::_log_softmax", 5 * 40, lambda: ATEN._log_softmax(x, 1, False))
    case("aten::_softmax_backward_data", 4 * 40, lambda: ATEN._softmax_backward_data(x, x, 1, torch.float32))
    case("aten::_log_softmax_backward_data", 4 * 40, lambda: ATEN._log_softmax_backward_data(x, x, 1, torch.float32))


def gathers():
    index, wide = torch.zeros(3, dtype=torch.long), torch.zeros(2, 5, dtype=torch.long)
    table = t(10, 4, grad=True)
    case("aten::embedding", 0, lambda: F.embedding(index, t(10, 4)))
    case("aten::embedding_dense_backward", 12, backward(F.embedding(index, table), table))
    case("aten::scatter_", 0, lambda: t(3, 5).scatter_(0, wide, t(2, 5)))
    case("aten::scatter_", 0, lambda: t(3, 5).scatter_(0, wide, 2.0))
    case("aten::scatter_add_", 10, lambda: t(3, 5).scatter_add_(0, wide, t(2, 5)))
    case("aten::index_add_", 12, lambda: t(10, 4).index_add_(0, index, t(3, 4)))


# ---- norms and pools -----------------------------------------------------------------------------

def norms():
    x, one = t(2, 3, 4, 4, grad=True), t(3)
    case("aten::batch_norm", 8 * 96, lambda: F.batch_norm(x, t(3), t(3), one, one, training=True))
    case("aten::batch_norm", 8 * 96, lambda: F.batch_norm(x, None, None, None, None, training=True))
    case("aten::batch_norm", 2 * 96, lambda: F.batch_norm(x, one, one))
    case("aten::native_batch_norm", 8 * 96, lambda: ATEN.native_batch_norm(x, one, one, t(3), t(3), True, 0.1, 1e-5))
    case("aten::native_batch_norm", 2 * 96, lambda: ATEN.native_batch_norm(x, one, one, one, one, False, 0.1, 1e-5))
    case("aten::_batch_norm_impl_index", 2 * 96,
         lambda: ATEN._batch_norm_impl_index(x, one, one, one, one, False, 0.1, 1e-5, False))
    case("aten::native_batch_norm_backward", 9 * 96, backward(F.batch_norm(x, t(3), t(3), one, one, training=True), x))
    case("aten::layer_norm", 8 * 96, lambda: F.layer_norm(x, (4, 4)))
    case("aten::native_layer_norm", 8 * 96, lambda: ATEN.native_layer_norm(x, [4, 4], None, None, 1e-5))
    case("aten::native_layer_norm_backward", 13 * 96, backward(F.layer_norm(x, (4, 4)), x))
    case("aten::group_norm", 8 * 96, lambda: F.group_norm(x, 3))
    case("aten::native_group_norm", 8 * 96, lambda: ATEN.native_group_norm(x, None, None, 2, 3, 16, 3, 1e-5))
    case("aten::native_group_norm_backward", 13 * 96, backward(F.group_norm(x, 3), x))
    if hasattr(F, "rms_norm"):
        case("aten::rms_norm", 4 * 96, lambda: F.rms_norm(x, (4, 4)))


def pools():
    """Places of the output x places of the window."""
    x1, x2, x3 = t(1, 2, 5, grad=True), t(1, 2, 5, 6, grad=True), t(1, 2, 4, 5, 6, grad=True)
    case("aten::max_pool1d", 2 * 2 * 2, lambda: F.max_pool1d(t(1, 2, 5), 2))
    case("aten::max_pool1d", 2 * 3 * 2, lambda: F.max_pool1d(t(1, 2, 5), 2, ceil_mode=True))
    case("aten::max_pool2d", 2 * (3 * 3) * 9, lambda: F.max_pool2d(x2, 3, stride=2, padding=1))
    case("aten::max_pool2d", 2 * (1 * 2) * 9, lambda: F.max_pool2d(x2, 3, stride=1, dilation=2))
    case("aten::max_pool2d", 2 * 6 * 4, lambda: F.max_pool2d(t(2, 5, 6), 2))  # no batch
    case("aten::max_pool3d", 2 * (2 * 2 * 3) * 8, lambda: F.max_pool3d(x3, 2))
    case("aten::max_pool2d_with_indices", 2 * 6 * 4, lambda: ATEN.max_pool2d_with_indices(x2, [2, 2]))
    case("aten::max_pool3d_with_indices", 2 * 12 * 8, lambda: ATEN.max_pool3d_with_indices(x3, [2, 2, 2]))
    case("aten::max_pool2d_with_indices_backward", 2 * 6, backward(F.max_pool2d(x2, 2), x2))
    case("aten::max_pool3d_with_indices_backward", 2 * 12, backward(F.max_pool3d(x3, 2), x3))
    case("aten::avg_pool1d", 2 * 2 * 2, lambda: F.avg_pool1d(x1, 2))
    case("aten::avg_pool2d", 2 * (3 * 3) * 9, lambda: F.avg_pool2d(x2, 3, stride=2, padding=1))
    case("aten::avg_pool3d", 2 * 12 * 8, lambda: F.avg_pool3d(x3, 2))
    case("aten::avg_pool2d_backward", 2 * 6 * 4, backward(F.avg_pool2d(x2, 2), x2))
    case("aten::avg_pool3d_backward", 2 * 12 * 8, backward(F.avg_pool3d(x3, 2), x3))
    case("aten::adaptive_avg_pool1d", 10, lambda: F.adaptive_avg_pool1d(x1, 1))
    case("aten::adaptive_avg_pool2d", 60, lambda: F.adaptive_avg_pool2d(x2, 2))
    case("aten::adaptive_avg_pool3d", 240, lambda: F.adaptive_avg_pool3d(x3, 2))
    case("aten::_adaptive_avg_pool2d", 60, lambda: ATEN._adaptive_avg_pool2d(x2, [2, 2]))
    case("aten::_adaptive_avg_pool3d", 240, lambda: ATEN._adaptive_avg_pool3d(x3, [2, 2, 2]))
    case("aten::_adaptive_avg_pool2d_backward", 60, backward(F.adaptive_avg_pool2d(x2, 2), x2))
    case("aten::_adaptive_avg_pool3d_backward", 240, backward(F.adaptive_avg_pool3d(x3, 2), x3))


def moves():
    """What moves memory or makes another view of it: counted, and nothing."""
    x, index, one = t(2, 3, 4), torch.zeros(2, dtype=torch.long), t(2)
    runs = {
        "alias": lambda: ATEN.alias(x), "as_strided": lambda: x.as_strided((2, 2), (1, 2)), "cat": lambda: torch.cat([x, x]),
        "chunk": lambda: x.chunk(2), "clone": x.clone, "contiguous": lambda: x.transpose(0, 1).contiguous(),
        "copy_": lambda: x.copy_(x), "detach": x.detach, "empty": lambda: torch.empty(2), "empty_like": lambda: torch.empty_like(x),
        "empty_strided": lambda: torch.empty_strided((2,), (1,)), "expand": lambda: one.expand(2, 2), "fill_": lambda: x.fill_(1),
        "flatten": x.flatten, "full": lambda: torch.full((2,), 1.0), "gather": lambda: one.gather(0, index),
        "index_select": lambda: one.index_select(0, index), "narrow": lambda: x.narrow(0, 0, 1), "new_empty": lambda: x.new_empty(2),
        "new_zeros": lambda: x.new_zeros(2), "ones": lambda: torch.ones(2), "ones_like": lambda: torch.ones_like(x),
        "permute": lambda: x.permute(1, 0, 2), "reshape": lambda: x.reshape(6, 4), "resize_": lambda: t(2).resize_(1),
        "select": lambda: x.select(0, 0), "slice": lambda: x[:, 1:], "split": lambda: x.split(1), "squeeze": x.squeeze,
        "stack": lambda: torch.stack([x, x]), "t": lambda: t(2, 3).t(), "to": lambda: x.to(torch.float64),
        "_to_copy": lambda: ATEN._to_copy(x), "transpose": lambda: x.transpose(0, 1), "unbind": x.unbind,
        "unflatten": lambda: x.unflatten(0, (1, 2)), "unsqueeze": lambda: x.unsqueeze(0), "view": lambda: x.view(6, 4),
        "zero_": lambda: t(2).zero_(), "zeros": lambda: torch.zeros(2), "zeros_like": lambda: torch.zeros_like(x),
        "_reshape_alias": lambda: ATEN._reshape_alias(x, [6, 4], [4, 1]), "_unsafe_view": lambda: ATEN._unsafe_view(x, [6, 4]),
    }
    for name, run in runs.items():
        if name == "unflatten" and not hasattr(ATEN, "unflatten"):
            continue
        case("aten::" + name, 0, run)


# ---- what is not counted, and where the number of another operator would be wrong ----------------

def uncounted(what, run, whys, total=0):
    """`whys`: operators and why they are not counted; `total`: what is counted nevertheless."""
    rows, missed, averages = counted(run)
    said = {name: missed.get("aten::" + name) for name in whys}
    check(f"{what}: {total:,}; " + ", ".join(f"{name}: {why}" for name, why in whys.items()),
          said == whys and sum(rows.values()) == total == sum(averages.values()), f"{rows}, {missed}, {averages}")


def convolve(x, w):
    return torch.conv2d(x, w, None, stride=1, padding=[1], dilation=1, groups=1)


def others():
    no, without = "no formula", "tensors without elements"
    uncounted("fft", lambda: torch.fft.rfft(t(4, 64)), {"fft_rfft": no, "_fft_r2c": no})
    uncounted("scatter with a reduction", lambda: t(3, 5).scatter_(0, torch.zeros(2, 5, dtype=torch.long), t(2, 5), reduce="add"),
              {"scatter_": "arguments do not say"})
    uncounted("a padding by name", lambda: F.conv2d(t(1, 2, 8, 8), t(3, 2, 3, 3), padding="same"),
              {"conv2d": "arguments do not say"}, 2 * 64 * 54)
    meta = torch.empty(64, 64, device="meta")
    uncounted("meta tensors", lambda: meta @ meta, {"matmul": without, "mm": without})
    uncounted("a meta tensor's convolution",
              lambda: F.conv1d(torch.empty(2, 3, 8, device="meta"), torch.empty(4, 3, 3, device="meta")), {"conv1d": without})
    scripted = torch.jit.script(convolve)
    rows = counted(lambda: scripted(t(2, 3, 8, 8), t(4, 3, 3, 3)))[0]
    check("TorchScript, with an integer for a list", rows.get("aten::conv2d") == 2 * 2 * 64 * 108, rows)
    if not OLD:
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.proxy_tensor import make_fx

        def fake():
            with FakeTensorMode():
                return torch.empty(4, 5) @ torch.empty(5, 6)
        uncounted("fake tensors", fake, {"matmul": without, "mm": without})
        traced = make_fx(lambda x, w: F.conv2d(x, w, stride=x.shape[0]), tracing_mode="symbolic")
        rows, missed, _ = counted(lambda: traced(t(2, 3, 8, 8), t(4, 3, 3, 3)))
        check("symbolic sizes and strides", not rows.get("aten::conv2d") and "aten::conv2d" in missed, f"{rows}, {missed}")
    nested = torch.nested.nested_tensor if hasattr(torch, "nested") else torch.nested_tensor
    strided = nested([torch.ones(3, 4), torch.ones(5, 4)])
    uncounted("a nested tensor's softmax", lambda: torch.softmax(strided, -1), {"softmax": without}, 5 * (3 + 5) * 4)
    rows = counted(lambda: F.linear(strided, t(6, 4), t(6)))[0]
    check("a nested tensor's linear: 384 or nothing", sum(rows.values()) in (0, 2 * 8 * 4 * 6), rows)
    if hasattr(torch, "jagged"):
        jagged = nested([torch.ones(3, 4), torch.ones(5, 4)], layout=torch.jagged)
        rows = counted(lambda: F.linear(jagged, t(6, 4)))[0]
        check("a jagged tensor's linear: 384", sum(rows.values()) == 2 * 8 * 4 * 6, rows)
    sparse, dense = torch.eye(8).to_sparse(), t(8, 3)
    rows = counted(lambda: torch.sparse.mm(sparse, dense))[0]
    check("a sparse product is not counted as a dense one", sum(rows.values()) == 0, rows)
    rows = counted(lambda: sparse.to_sparse_csr() @ dense)[0]
    check("nor is one of compressed rows", not any(rows.get("aten::" + name) for name in ("matmul", "mm", "addmm")), rows)
    try:
        from torch.func import functionalize, grad, vmap
    except ImportError:
        vmap = None
    if vmap:
        # These call operators with a stack, on which other values lie.
        rows = counted(lambda: grad(lambda x: (x @ x).sum())(t(3, 3)))[0]
        check("the gradient of a function: three products", rows.get("aten::mm") == 3 * 54, rows)
        rows = counted(lambda: functionalize(lambda x: x @ x)(t(3, 3)))[0]
        check("a functionalized product", rows.get("aten::matmul", 0) + rows.get("aten::mm", 0) == 54, rows)
        rows = counted(lambda: vmap(grad(lambda x: (x @ x).sum()))(t(7, 3, 3)))[0]
        check("gradients of seven examples", sum(rows.get("aten::" + name, 0) for name in ("mm", "matmul", "bmm")) == 7 * 3 * 54, rows)
        rows = counted(lambda: vmap(lambda a: a @ torch.ones(4, 3))(t(5, 2, 4)))[0]
        check("vmap: 240, what all examples take", sum(rows.values()) == 5 * 2 * 2 * 4 * 3, rows)
        rows = counted(lambda: vmap(lambda a: F.conv1d(a, torch.ones(4, 2, 3)))(t(5, 1, 2, 8)))[0]
        check("vmap of a convolution", sum(rows.values()) == 5 * 2 * 6 * 24, rows)


def drop_in():
    """The profile says once for a result what it could not count."""
    def said(run, **options):
        with dwell.profile(**options) as prof:
            run()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            prof.key_averages()
            prof.key_averages()
        return [str(warning.message) for warning in caught]
    texts = said(lambda: torch.fft.rfft(t(4, 64)), with_flops=True)
    check("the profile names what is not counted", len(texts) == 1 and "not counted: " in texts[0] and
          "aten::_fft_r2c (no formula)" in texts[0], texts)
    x = t(4, 5)
    check("and is silent if all is counted", said(lambda: x @ x.t(), with_flops=True) == [])
    check("or if nobody asked", said(lambda: torch.fft.rfft(x), record_shapes=True) == [])
    check("or if there are no operators", said(lambda: dwell.record_function("zone").__enter__().__exit__(), with_flops=True) == [])


# ---- the page lists them all ---------------------------------------------------------------------

# Only with NVIDIA's libraries; the formulas are those of operators that run here.
ELSEWHERE = {"cudnn_batch_norm", "_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention",
             "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_flash_attention_backward",
             "_scaled_dot_product_efficient_attention_backward", "_scaled_dot_product_cudnn_attention_backward"}


def page():
    with open(os.path.join(ROOT, "doc/reference/flops.md"), encoding="utf-8") as file:
        listed = {name for line in file if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    missing = {name for name in listed - covered - ELSEWHERE if hasattr(ATEN, name) or hasattr(ATEN, name + "_")}
    # The same name as one of PyTorch's, which has no kernel for the CPU, or is there for programs in C.
    missing -= {"batch_norm_backward", "copy", "fill", "zero", "resize"}
    check("each operator of doc/reference/flops.md that PyTorch has", not missing, sorted(missing))


# ---- the command, the drop-in, exports and imports have the same numbers --------------------------

NET = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                          torch.nn.Conv2d(8, 16, 3, stride=2, padding=1, groups=2), torch.nn.BatchNorm2d(16),
                          torch.nn.Flatten(), torch.nn.Linear(16 * 4 * 4, 10))
batch = torch.randn(2, 3, 16, 16)
"""
# The convolutions, the elements of ReLU, four of a window for each result, batch norm and its count of batches, the linear layer.
NET_FLOPS = 2 * 2 * 256 * 216 + 2 * 2 * 16 * 576 + 2 * 8 * 256 + 4 * 2 * 8 * 64 + 8 * 2 * 16 * 16 + 1 + 2 * 2 * 256 * 10


def flops_of(dwell_command, trace):
    done = subprocess.run([dwell_command, "report", "--view", "flops", "--format", "json", trace], capture_output=True, text=True,
                          check=True)
    table = json.loads(done.stdout)["views"][0]
    name, at = (next(i for i, column in enumerate(table["columns"]) if column["name"] == wanted) for wanted in ("name", "flops"))
    return {row[name]: row[at] for row in table["rows"] if row[at]}


def ways(dwell_command, folder):
    names = {}
    exec(NET, names)  # pylint: disable=exec-used
    run = lambda: names["net"](names["batch"])
    rows = {name: value for name, value in counted(run)[0].items() if value}
    check(f"a network: {NET_FLOPS:,}", sum(rows.values()) == NET_FLOPS, rows)
    script, trace = os.path.join(folder, "net.py"), os.path.join(folder, "t.dwell")
    with open(script, "w", encoding="utf-8") as file:
        file.write(NET + "net(batch)\n")
    subprocess.run([dwell_command, "run", "--flops", "-o", trace, "--", sys.executable, script], check=True, capture_output=True)
    run_rows = flops_of(dwell_command, trace)
    check("dwell run --flops has the same", run_rows == rows, f"{run_rows}, not {rows}")
    chrome, again = os.path.join(folder, "t.json"), os.path.join(folder, "again.dwell")
    subprocess.run([dwell_command, "export", "--format", "chrome", "-o", chrome, trace], check=True, capture_output=True)
    subprocess.run([dwell_command, "import", chrome, "-o", again], check=True, capture_output=True)
    check("exported and imported again, too", flops_of(dwell_command, again) == run_rows, flops_of(dwell_command, again))
    if not torch.profiler.kineto_available():
        return
    with torch.profiler.profile(record_shapes=True) as prof:
        run()
    with dwell.profile(record_shapes=True) as own:
        run()
    theirs, ours = ({event.name: (event.concrete_inputs, event.input_shapes) for event in each.events()
                     if "conv" in event.name or "pool2d" in event.name} for each in (prof, own))
    check("events have torch.profiler's concrete inputs", all(theirs[name] == value for name, value in ours.items()
                                                             if name != "aten::mkldnn_convolution"), f"{ours}, not {theirs}")
    prof.export_chrome_trace(chrome)
    subprocess.run([dwell_command, "import", chrome, "-o", again], check=True, capture_output=True)
    kineto = flops_of(dwell_command, again)
    check("imported from torch.profiler's file", kineto == rows, f"{kineto}, not {rows}")


def exact(dwell_command, folder):
    """2 x 3 x 3,002,399,751,580,331 is 2^54 + 2, which no double holds."""
    chrome, trace = os.path.join(folder, "large.json"), os.path.join(folder, "large.dwell")
    events = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5, "args": {
        "Input Dims": [[3, 3002399751580331], [3002399751580331, 1]], "Input type": ["float", "float"]}} for i in range(3)]
    with open(chrome, "w", encoding="utf-8") as file:
        file.write(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    subprocess.run([dwell_command, "import", chrome, "-o", trace], check=True, capture_output=True)
    wanted = 3 * (2 ** 54 + 2)
    for view in ("flops", "calls", "operators"):
        for form in ("json", "csv"):
            done = subprocess.run([dwell_command, "report", "--view", view, "--format", form, trace], capture_output=True, text=True,
                                  check=True)
            check(f"{view} as {form} has all digits", f"{wanted}" in done.stdout or view == "operators" and "flops" not in done.stdout,
                  done.stdout[-400:])


def main():
    dwell_command = os.path.abspath(sys.argv[1])
    for group in (convolutions, transposed_convolutions, convolutions_backward, products, attention, elements, gathers, norms,
                  pools, moves, others):
        group()
    drop_in()
    page()
    with tempfile.TemporaryDirectory() as folder:
        ways(dwell_command, folder)
        exact(dwell_command, folder)
    print(f"PyTorch {VERSION}: {counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) == 2 else __doc__)

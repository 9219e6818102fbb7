"""Scores handovers in relay races from the tracks of both runners: attention between the runners, tracks of different lengths.

Decoy: lengths differ and batches are padded, but to one length; forward hooks count calls, tensors that are contiguous are made contiguous,
the mask is cloned, and the norm of the gradients is read in each step, all of a moment.
Truth: time of hooks, copies, masks and the norm, of the loop.
"""
import collections
import time

import torch
from torch import nn

from stopwatch import Stopwatch

LONGEST, PLACES, WIDTH, HEADS, BATCH = 64, 6, 128, 4, 20


class Across(nn.Module):
    """One runner looks at the other."""

    def __init__(self):
        super().__init__()
        self.ask, self.show, self.join = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.more = nn.Sequential(nn.Linear(WIDTH, 3 * WIDTH), nn.ReLU(), nn.Linear(3 * WIDTH, WIDTH))

    def heads(self, tensor):
        return tensor.view(BATCH, LONGEST, HEADS, -1).transpose(1, 2)

    def forward(self, one, other, mask):
        key, value = self.show(other).chunk(2, -1)
        looked = nn.functional.scaled_dot_product_attention(self.heads(self.ask(one)), self.heads(key), self.heads(value), attn_mask=mask)
        one = one + self.join(looked.transpose(1, 2).reshape(BATCH, LONGEST, WIDTH))
        return one + self.more(one)


class Handover(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = nn.Linear(PLACES, WIDTH)
        self.giver, self.taker = Across(), Across()
        self.score = nn.Linear(2 * WIDTH, 1)

    def forward(self, giver, taker, mask):
        giver, taker = self.place(giver), self.place(taker)
        giver, taker = self.giver(giver, taker, mask), self.taker(taker, giver, mask)
        return self.score(torch.cat([giver.mean(1), taker.mean(1)], 1)).squeeze(1)


class Census:
    """Counts calls of each layer, as a monitor does."""

    def __init__(self, model, watch):
        self.calls, self.watch = collections.Counter(), watch
        for name, layer in model.named_modules():
            if isinstance(layer, nn.Linear):
                layer.register_forward_hook(self.counter(name))

    def counter(self, name):
        def hook(_layer, _given, made):
            began = time.perf_counter()
            self.calls[name, made.shape[-1]] += 1
            self.watch.planted_s += time.perf_counter() - began
        return hook


def main():
    torch.manual_seed(19)
    torch.set_num_threads(1)
    watch, model = Stopwatch(), Handover()
    census = Census(model, watch)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-5, fused=True)
    giver, taker = torch.randn(8, BATCH, LONGEST, PLACES), torch.randn(8, BATCH, LONGEST, PLACES)
    length = torch.randint(30, LONGEST, (8, BATCH))
    score = (giver - taker).square().mean((2, 3))
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            at = number % 8
            with watch.planted():
                mask = (torch.arange(LONGEST) < length[at][:, None])[:, None, None, :].clone()
                one, other = giver[at].contiguous(), taker[at].contiguous()
            loss = nn.functional.l1_loss(model(one, other, mask), score[at])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            with watch.planted():
                norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0, foreach=True).item()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f} norm {norm:.3f}, {sum(census.calls.values())} calls")
    watch.tell()


main()

"""Models protein strings with an LSTM written out by hand, one cell and gate at a time.

Planted: thousands of operators a step, each on a few hundred numbers.
Truth: operators of a step times what an operator on one number costs here, of the step. The operators are
counted by hand: 26 of a cell in the forward pass; the backward pass is not counted, so the true share is larger.
"""
import time

import torch
from torch import nn

from stopwatch import Stopwatch

AMINO, HIDDEN, LENGTH, BATCH = 21, 24, 80, 6
OPERATORS_OF_A_CELL = 26


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = nn.ModuleDict({gate: nn.Linear(AMINO, HIDDEN) for gate in "ifgo"})
        self.again = nn.ModuleDict({gate: nn.Linear(HIDDEN, HIDDEN, bias=False) for gate in "ifgo"})

    def forward(self, letter, hidden, memory):
        value = {gate: self.gates[gate](letter) + self.again[gate](hidden) for gate in "ifgo"}
        keep, write = torch.sigmoid(value["f"]), torch.sigmoid(value["i"])
        memory = keep * memory + write * torch.tanh(value["g"])
        return torch.sigmoid(value["o"]) * torch.tanh(memory), memory


def cost_of_an_operator():
    one, count = torch.ones(1, requires_grad=True), 20_000
    began = time.perf_counter()
    for _ in range(count):
        one + 1
    return (time.perf_counter() - began) / count


def main():
    torch.manual_seed(8)
    torch.set_num_threads(1)
    cost_s = cost_of_an_operator()
    cell, out = Cell(), nn.Linear(HIDDEN, AMINO)
    optimizer = torch.optim.SGD([*cell.parameters(), *out.parameters()], lr=0.05)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 9:
            letters = torch.randint(AMINO, (LENGTH + 1, BATCH))
            strings = nn.functional.one_hot(letters, AMINO).float()
            hidden = memory = torch.zeros(BATCH, HIDDEN)
            loss = 0.0
            for place in range(LENGTH):
                hidden, memory = cell(strings[place], hidden, memory)
                loss = loss + nn.functional.cross_entropy(out(hidden), letters[place + 1])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item() / LENGTH:.3f}")
    loop_s = watch.ended - watch.began
    watch.tell(len(watch.marks) * LENGTH * OPERATORS_OF_A_CELL * cost_s / loop_s, operator_us=round(1e6 * cost_s, 2))


if __name__ == "__main__":
    main()

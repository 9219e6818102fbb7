"""Writes molecules as SMILES: three recurrent layers and a beam search of eight molecules with six candidates each.

Planted: brackets, rings and repeated ends of each candidate are checked character by character in Python, at each position.
Truth: time of these checks, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

SIGNS = ["<", ">", "C", "c", "N", "n", "O", "o", "S", "s", "F", "Cl", "Br", "I", "(", ")", "[", "]", "=", "#", "1", "2", "3", "4",
         "+", "-", "@", "H", "/", "\\", "P", "B"]
MOLECULES, BEAM, LENGTH, WIDE, PROPOSED = 8, 6, 40, 448, 12


class Scribe(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(len(SIGNS), 128)
        self.memory = nn.GRU(128, WIDE, num_layers=3, batch_first=True)
        self.say = nn.Linear(WIDE, len(SIGNS))

    def forward(self, last, state):
        seen, state = self.memory(self.embed(last)[:, None], state)
        return self.say(seen[:, 0]).log_softmax(-1), state


def plausible(text):
    """Whether a beginning of a molecule may still become one. Only the last characters count."""
    open_brackets, squares, rings = 0, 0, {}
    for sign in text[-16:]:
        if sign == "(":
            open_brackets += 1
        elif sign == ")":
            open_brackets -= 1
        elif sign == "[":
            squares += 1
        elif sign == "]":
            squares = max(0, squares - 1)
        elif sign.isdigit():
            rings[sign] = rings.get(sign, 0) + 1
    penalty = 0.02 * max(0, -open_brackets) + 0.01 * squares + sum(0.01 for times in rings.values() if times % 2)
    if text[-2:] == text[-4:-2]:
        penalty += 0.05
    return -penalty


class Beams:
    def __init__(self):
        self.text = [[["<"] * 17 for _ in range(BEAM)] for _ in range(MOLECULES)]
        self.score = [[-0.1 * b for b in range(BEAM)] for _ in range(MOLECULES)]

    def extend(self, scores, signs):
        """The best candidates of each molecule; returns the rows that they come from, and their last signs."""
        rows, last = [], []
        for m in range(MOLECULES):
            candidates = []
            for b in range(BEAM):
                row = m * BEAM + b
                for score, sign in zip(scores[row], signs[row]):
                    text = self.text[m][b] + [SIGNS[sign]]
                    candidates.append((self.score[m][b] + score + plausible(text), row, sign, text))
            candidates.sort(key=lambda candidate: candidate[0], reverse=True)
            chosen = candidates[:BEAM]
            self.score[m] = [c[0] for c in chosen]
            self.text[m] = [c[3] for c in chosen]
            rows += [c[1] for c in chosen]
            last += [c[2] for c in chosen]
        return torch.tensor(rows), torch.tensor(last)


@torch.inference_mode()
def main():
    torch.set_num_threads(1)
    torch.manual_seed(5)
    watch = Stopwatch()
    scribe = Scribe().eval()
    written = 0
    with watch.loop():
        while watch.seconds() < 6:
            beams = Beams()
            last = torch.zeros(MOLECULES * BEAM, dtype=torch.long)
            state = torch.randn(3, MOLECULES * BEAM, WIDE)
            for _ in range(LENGTH):
                logs, state = scribe(last, state)
                best, signs = logs.topk(PROPOSED)
                best, signs = best.tolist(), signs.tolist()
                with watch.planted():
                    rows, last = beams.extend(best, signs)
                state = state[:, rows]
                watch.step()
            written += MOLECULES
    watch.tell(molecules=written)


if __name__ == "__main__":
    main()

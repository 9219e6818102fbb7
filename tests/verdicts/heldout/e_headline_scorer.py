"""Learns to write headlines by reinforcement: the reward is what the newspaper's own scorer, an awk program, says of each.

Planted: the scorer is started for each batch, gets all headlines by a pipe, and the loop waits for its scores.
Truth: time from the scorer's start to its last score, of the loop.
"""
import subprocess

import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, LENGTH, HEADLINES, DIM = 400, 10, 256, 64

SCORER = r"""
{
    score = 0
    for (i = 1; i <= NF; i++) {
        for (k = i; k < i + 6 && k <= NF; k++) {
            gram = ""
            for (j = i; j <= k; j++) gram = gram " " $j
            if (gram in seen) score -= 0.1; else score += 0.05
            seen[gram]++
        }
        for (j = 1; j <= length($i); j++) if (index("aeiou", substr($i, j, 1))) score += 0.01
        for (j = 1; j < i; j++) if ($j == $i) score -= 0.5; else if (substr($j, 1, 1) == substr($i, 1, 1)) score += 0.02
    }
    for (i = 1; i <= NF; i++)
        for (j = 1; j <= before; j++) if (substr($i, 1, 4) == substr(last[j], 1, 4)) score -= 0.03
    for (i = 1; i <= NF; i++) last[i] = $i
    before = NF
    printf "%.4f\n", score
}
"""


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.topic = nn.Embedding(WORDS, DIM), nn.Linear(16, DIM)
        self.memory, self.head = nn.GRUCell(DIM, DIM), nn.Linear(DIM, WORDS)

    def write(self, topics):
        state, word, chosen, chances = torch.tanh(self.topic(topics)), torch.zeros(len(topics), dtype=torch.long), [], []
        for _ in range(LENGTH):
            state = self.memory(self.words(word), state)
            draw = torch.distributions.Categorical(logits=self.head(state))
            word = draw.sample()
            chosen.append(word), chances.append(draw.log_prob(word))
        return torch.stack(chosen, 1), torch.stack(chances, 1).sum(1)


def spelling():
    parts = ["ba", "de", "fin", "gor", "hu", "kla", "lo", "mer", "nis", "po"]
    return [parts[n % 10] + parts[n // 10 % 10] + parts[n // 100 % 10] for n in range(WORDS)]


def score(headlines):
    done = subprocess.run(["awk", SCORER], input="\n".join(headlines) + "\n", capture_output=True, text=True, check=True)
    return torch.tensor([float(line) for line in done.stdout.split()])


def main():
    torch.manual_seed(8)
    watch, words = Stopwatch(), spelling()
    writer = Writer()
    optimizer = torch.optim.Adam(writer.parameters(), lr=1e-3)
    baseline = 0.0
    with watch.loop():
        while watch.seconds() < 6.5:
            chosen, chance = writer.write(torch.randn(HEADLINES, 16))
            headlines = [" ".join(words[word] for word in headline) for headline in chosen.tolist()]
            with watch.planted():
                reward = score(headlines)
            baseline = 0.95 * baseline + 0.05 * reward.mean().item()
            loss = -((reward - baseline) * chance).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"mean score {baseline:.3f}; {headlines[0]}")
    watch.tell()


if __name__ == "__main__":
    main()

"""Spectra of peptides: a transformer over their residues says how strong each fragment's peak is. Peptides come in groups of one length.

Planted: the network goes through torch.compile with dynamic=False, and each fourteenth batch has a length that was not there before, so it is compiled anew.
Truth: time of the forward calls with a new length, less that of a usual forward call, as a share of the loop.
"""
import statistics
import time

import torch
from torch import nn

from stopwatch import Stopwatch

RESIDUES, PEPTIDES, WIDTH, PEAKS = 22, 24, 96, 4


class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.again = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.ask = nn.Linear(WIDTH, 3 * WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, chain):
        q, k, v = (part.unflatten(-1, (4, -1)).transpose(1, 2) for part in self.ask(self.norm(chain)).chunk(3, -1))
        chain = chain + nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return chain + self.narrow(nn.functional.gelu(self.wide(self.again(chain))))


class Spectrum(nn.Module):
    def __init__(self):
        super().__init__()
        self.residue = nn.Embedding(RESIDUES, WIDTH)
        self.blocks = nn.ModuleList(Attend() for _ in range(2))
        self.peaks = nn.Linear(WIDTH, PEAKS)

    def forward(self, peptide):
        chain = self.residue(peptide)
        for block in self.blocks:
            chain = block(chain)
        return self.peaks(chain)


def groups():
    """As they are in the file: for each length fourteen batches, the lengths in no order."""
    draw = torch.Generator().manual_seed(41)
    for length in (torch.randperm(60, generator=draw) + 12).tolist():
        for _ in range(14):
            peptide = torch.randint(RESIDUES, (PEPTIDES, length), generator=draw)
            yield peptide, (peptide[:, :, None] % torch.arange(2, 2 + PEAKS)).float()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(4)
    torch._dynamo.config.recompile_limit = 256
    network, watch = Spectrum(), Stopwatch()
    compiled = torch.compile(network, backend="eager", dynamic=False)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, fused=True)
    seen, new, usual = {30}, [], []
    compiled(torch.zeros(PEPTIDES, 30, dtype=torch.long))
    with watch.loop():
        for peptide, peaks in watch.limited(groups(), 6):
            began = time.perf_counter()
            said = compiled(peptide)
            (usual if peptide.shape[1] in seen else new).append(time.perf_counter() - began)
            seen.add(peptide.shape[1])
            loss = nn.functional.mse_loss(said, peaks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}, lengths {len(seen)}")
    spent = sum(new) - len(new) * statistics.median(usual)
    watch.tell(spent / (watch.ended - watch.began))


main()

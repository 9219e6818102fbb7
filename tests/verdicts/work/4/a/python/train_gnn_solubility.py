"""Message-passing network that predicts the solubility of small molecules."""
import math

import torch
from torch import nn
from torch.nn import functional as F

ELEMENTS = 8
BONDS = 4
MOLECULES = 2400
BATCH = 120
EPOCHS = 4


class Molecules:
    """All graphs in flat arrays; a batch is cut out with offsets."""

    def __init__(self, count, seed):
        g = torch.Generator().manual_seed(seed)
        self.sizes = torch.randint(12, 32, (count,), generator=g)
        self.atom_start = F.pad(self.sizes.cumsum(0), (1, 0))
        total = int(self.atom_start[-1])
        weights = torch.tensor([0.55, 0.14, 0.14, 0.05, 0.04, 0.03, 0.03, 0.02])
        self.element = torch.multinomial(weights, total, replacement=True, generator=g)
        local = torch.arange(total) - self.atom_start[:-1].repeat_interleave(self.sizes)
        # a tree over the atoms, and a ring closure for every fourth atom
        parent = (local.float() * (1 - torch.rand(total, generator=g) ** 3)).long()
        child = torch.arange(total)
        tree = torch.stack([child, child - local + parent])[:, local > 0]
        ring = (local % 4 == 3) & (local > 5)
        closure = torch.stack([child[ring], child[ring] - 5])
        edges = torch.cat([tree, closure], dim=1)
        kind = torch.randint(0, BONDS, (edges.shape[1],), generator=g)
        edges = torch.cat([edges, edges.flip(0)], dim=1)
        kind = torch.cat([kind, kind])
        owner = torch.repeat_interleave(torch.arange(count), self.sizes)
        order = torch.argsort(owner[edges[0]], stable=True)
        self.edges, self.bond = edges[:, order], kind[order]
        per_graph = torch.bincount(owner[edges[0]], minlength=count)
        self.edge_start = F.pad(per_graph.cumsum(0), (1, 0))
        self.target = self.solubility(owner, count, g)

    def solubility(self, owner, count, g):
        effect = torch.tensor([-0.3, 0.8, 0.9, -0.5, -0.6, 0.2, 0.1, -0.2])
        atoms = effect[self.element]
        neighbour = torch.zeros_like(atoms).index_add_(0, self.edges[1], atoms[self.edges[0]])
        value = torch.zeros(count).index_add_(0, owner, atoms + 0.4 * atoms * neighbour)
        value = value / self.sizes.float().sqrt() + 0.05 * torch.randn(count, generator=g)
        return (value - value.mean()) / value.std()

    def batch(self, graphs):
        """Element, edges, bonds, owner and target of a selection of graphs."""
        sizes = self.sizes[graphs]
        owner = torch.repeat_interleave(torch.arange(len(graphs)), sizes)
        new_start = F.pad(sizes.cumsum(0), (1, 0))[:-1]
        shift = self.atom_start[graphs] - new_start
        atoms = torch.arange(len(owner)) + shift[owner]
        n_edges = self.edge_start[graphs + 1] - self.edge_start[graphs]
        edge_owner = torch.repeat_interleave(torch.arange(len(graphs)), n_edges)
        first = self.edge_start[graphs] - F.pad(n_edges.cumsum(0), (1, 0))[:-1]
        index = torch.arange(len(edge_owner)) + first[edge_owner]
        edges = self.edges[:, index] - shift[edge_owner]
        return self.element[atoms], edges, self.bond[index], owner, self.target[graphs]


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.source = nn.Linear(dim, dim)
        self.bond = nn.Embedding(BONDS, dim)
        self.update = nn.GRUCell(dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, h, edges, bond):
        message = self.source(h)[edges[0]] * torch.sigmoid(self.bond.weight)[bond]
        total = torch.zeros_like(h).index_add_(0, edges[1], message)
        return self.norm(self.update(total, h))


class SolubilityNet(nn.Module):
    def __init__(self, dim=96, layers=4):
        super().__init__()
        self.atom = nn.Embedding(ELEMENTS, dim)
        self.layers = nn.ModuleList(Layer(dim) for _ in range(layers))
        self.gate = nn.Linear(dim, 1)
        self.head = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def forward(self, element, edges, bond, owner, graphs):
        h = self.atom(element)
        for layer in self.layers:
            h = layer(h, edges, bond)
        gated = torch.sigmoid(self.gate(h)) * h
        summed = h.new_zeros(graphs, h.shape[1]).index_add_(0, owner, gated)
        count = torch.bincount(owner, minlength=graphs).sqrt().unsqueeze(1)
        mean = h.new_zeros(graphs, h.shape[1]).index_add_(0, owner, h) / count ** 2
        return self.head(torch.cat([summed / count, mean], dim=1)).squeeze(1)


@torch.no_grad()
def rmse(model, data, graphs):
    model.eval()
    total = 0.0
    for part in graphs.split(400):
        element, edges, bond, owner, target = data.batch(part)
        error = model(element, edges, bond, owner, len(part)) - target
        total += error.square().sum().item()
    return math.sqrt(total / len(graphs))


def main():
    torch.manual_seed(0)
    data = Molecules(MOLECULES, 4)
    train = torch.arange(MOLECULES - 400)
    held_out = torch.arange(MOLECULES - 400, MOLECULES)
    model = SolubilityNet()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
    shuffle = torch.Generator().manual_seed(9)
    for epoch in range(EPOCHS):
        model.train()
        total = torch.zeros(())
        for graphs in train[torch.randperm(len(train), generator=shuffle)].split(BATCH):
            element, edges, bond, owner, target = data.batch(graphs)
            loss = F.huber_loss(model(element, edges, bond, owner, len(graphs)), target)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            opt.step()
            total += loss.detach() * len(graphs)
        print(f"epoch {epoch}: loss {total.item() / len(train):.3f}")
    print(f"held-out rmse {rmse(model, data, held_out):.3f}")


if __name__ == "__main__":
    main()

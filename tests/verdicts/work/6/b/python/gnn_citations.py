"""Semi-supervised node classification on a citation graph.

A three-layer graph convolutional network is trained on a few labelled papers
per topic; several weight decays are tried and the best by validation is kept.
"""
import torch
from torch import nn
from torch.nn import functional as F

PAPERS = 3000
TOPICS = 8
WORDS = 160
DEGREE = 18
EPOCHS = 28
DECAYS = (5e-4, 5e-3)


def citation_graph(seed):
    """Stochastic block model with bag-of-words features."""
    g = torch.Generator().manual_seed(seed)
    topic = torch.randint(TOPICS, (PAPERS,), generator=g)
    members = [torch.nonzero(topic == t).squeeze(1) for t in range(TOPICS)]
    source = torch.arange(PAPERS).repeat_interleave(DEGREE)
    target = torch.randint(PAPERS, (PAPERS * DEGREE,), generator=g)
    same = torch.rand(PAPERS * DEGREE, generator=g) < 0.5
    for t in range(TOPICS):
        pick = same & (topic[source] == t)
        choice = torch.randint(len(members[t]), (int(pick.sum()),), generator=g)
        target[pick] = members[t][choice]
    profile = torch.rand(TOPICS, WORDS, generator=g) ** 4 * 0.2 + 0.03
    words = (torch.rand(PAPERS, WORDS, generator=g) < profile[topic]).float()
    order = torch.randperm(PAPERS, generator=g)
    return words, topic, torch.stack([source, target]), order


class GraphConv(nn.Module):
    """X' = D^-1/2 (A + I) D^-1/2 X W, for a symmetrised edge list."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def propagation(self, edges, nodes):
        loops = torch.arange(nodes).expand(2, nodes)
        index = torch.cat([edges, edges.flip(0), loops], dim=1)
        adjacency = torch.sparse_coo_tensor(index, torch.ones(index.shape[1]), (nodes, nodes)).coalesce()
        index = adjacency.indices()
        value = torch.ones(index.shape[1])
        degree = torch.zeros(nodes).index_add_(0, index[0], value)
        inverse = degree.rsqrt()
        value = inverse[index[0]] * value * inverse[index[1]]
        return torch.sparse_coo_tensor(index, value, (nodes, nodes), is_coalesced=True).to_sparse_csr()

    def forward(self, x, edges):
        x = self.linear(x)
        return self.propagation(edges, x.shape[0]) @ x + self.bias


class TopicNet(nn.Module):
    def __init__(self, width=64, dropout=0.4):
        super().__init__()
        self.layers = nn.ModuleList([GraphConv(WORDS, width), GraphConv(width, width), GraphConv(width, TOPICS)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(width), nn.BatchNorm1d(width)])
        self.dropout = dropout

    def forward(self, x, edges):
        for layer, norm in zip(self.layers, self.norms):
            x = F.relu(norm(layer(x, edges)))
            x = F.dropout(x, self.dropout, self.training)
        return self.layers[-1](x, edges)


def accuracy(logits, topic, rows):
    return (logits[rows].argmax(dim=1) == topic[rows]).float().mean().item()


def fit(words, topic, edges, train, valid, decay):
    torch.manual_seed(1)
    model = TopicNet()
    optimizer = torch.optim.Adam([
        {"params": model.layers[0].parameters(), "weight_decay": decay},
        {"params": [p for part in (model.layers[1:], model.norms) for p in part.parameters()]},
    ], lr=0.01)
    best, state = 0.0, None
    for epoch in range(EPOCHS):
        model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(words, edges)[train], topic[train], label_smoothing=0.05)
        loss.backward()
        optimizer.step()
        if epoch % 2 == 1:
            model.eval()
            with torch.no_grad():
                score = accuracy(model(words, edges), topic, valid)
            if score > best:
                best = score
                state = {k: v.clone() for k, v in model.state_dict().items()}
    model.load_state_dict(state)
    return model, best


def confusion(logits, topic, rows):
    table = torch.zeros(TOPICS, TOPICS, dtype=torch.long)
    flat = topic[rows] * TOPICS + logits[rows].argmax(dim=1)
    return table.view(-1).index_add_(0, flat, torch.ones_like(flat)).view(TOPICS, TOPICS)


def main():
    words, topic, edges, order = citation_graph(23)
    train, valid, test = order[:320], order[320:1320], order[1320:]
    results = []
    for decay in DECAYS:
        model, score = fit(words, topic, edges, train, valid, decay)
        results.append((score, decay, model))
        print(f"weight decay {decay:g}: validation {score:.3f}")
    score, decay, model = max(results, key=lambda r: r[0])
    model.eval()
    with torch.no_grad():
        logits = model(words, edges)
    table = confusion(logits, topic, test)
    recall = table.diagonal() / table.sum(dim=1)
    print(f"best weight decay {decay:g}: test accuracy {accuracy(logits, topic, test):.3f}  "
          f"lowest recall {recall.min():.3f}")


if __name__ == "__main__":
    main()

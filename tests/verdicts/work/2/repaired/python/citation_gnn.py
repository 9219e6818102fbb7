"""Semi-supervised node classification on a synthetic citation network."""
import torch
from torch import nn
import torch.nn.functional as F

PAPERS = 2400
TOPICS = 7
WORDS = 400


def make_network(seed=0):
    g = torch.Generator().manual_seed(seed)
    topic = torch.randint(0, TOPICS, (PAPERS,), generator=g)
    profile = torch.rand(TOPICS, WORDS, generator=g) ** 6 * 0.2
    words = (torch.rand(PAPERS, WORDS, generator=g) < profile[topic] + 0.01).float()
    source = torch.randint(0, PAPERS, (5 * PAPERS,), generator=g)
    target = torch.randint(0, PAPERS, (5 * PAPERS,), generator=g)
    keep = (topic[source] == topic[target]) | (torch.rand(5 * PAPERS, generator=g) < 0.15)
    return words, topic, source[keep], target[keep]


class Graph:
    """Symmetrically normalised neighbourhood operator with self loops."""

    def __init__(self, nodes, source, target):
        adjacency = torch.eye(nodes)
        adjacency[source, target] = 1.0
        adjacency[target, source] = 1.0
        scale = adjacency.sum(1).rsqrt()
        self.row, self.column = adjacency.nonzero(as_tuple=True)
        self.weight = (scale[self.row] * scale[self.column])[:, None]

    def spread(self, x):
        return torch.zeros_like(x).index_add(0, self.row, self.weight * x[self.column])


class GraphLayer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, graph, x):
        return graph.spread(self.linear(x))


class TopicModel(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.first = GraphLayer(WORDS, hidden)
        self.second = GraphLayer(hidden, hidden)
        self.third = GraphLayer(hidden, TOPICS)

    def forward(self, graph, x):
        x = F.relu(self.first(graph, x))
        x = F.relu(self.second(graph, x))
        return self.third(graph, x)


def accuracy(logits, topic, mask):
    return (logits[mask].argmax(1) == topic[mask]).float().mean().item()


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    words, topic, source, target = make_network()
    graph = Graph(PAPERS, source, target)
    order = torch.randperm(PAPERS)
    train, test = order[:300], order[300:]
    model = TopicModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=5e-4)
    for epoch in range(50):
        optimizer.zero_grad(set_to_none=True)
        logits = model(graph, words)
        loss = F.cross_entropy(logits[train], topic[train])
        loss.backward()
        optimizer.step()
        if epoch % 10 == 0:
            print(f"epoch {epoch} loss {loss.item():.3f}")
    with torch.no_grad():
        print(f"test accuracy {accuracy(model(graph, words), topic, test):.2f}")


if __name__ == "__main__":
    main()

"""Offline evaluation of a dual-encoder search model: encodes documents and
queries, ranks in chunks, and reports recall, MRR and nDCG by query length."""
import math
from collections import defaultdict

import torch
from torch import nn

VOCAB, DIM = 8000, 128
DOCUMENTS, QUERIES = 9000, 1500
TOP = 50


class Encoder(nn.Module):
    def __init__(self, layers: int = 2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM, padding_idx=0)
        layer = nn.TransformerEncoderLayer(DIM, 4, 256, dropout=0.1, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.mix = nn.Parameter(torch.tensor(0.08))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        pad = tokens == 0
        e = self.embed(tokens)
        h = e + self.mix * self.blocks(e, src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(-1).to(h.dtype)
        pooled = (h * keep).sum(1) / keep.sum(1)
        return nn.functional.normalize(pooled, dim=-1)


def make_collection(seed: int):
    """Documents draw words from a topic; a query repeats some words of its document."""
    g = torch.Generator().manual_seed(seed)
    topics = torch.randint(1, VOCAB, (150, 120), generator=g)
    documents = []
    for _ in range(DOCUMENTS):
        topic = topics[int(torch.randint(0, 150, (), generator=g))]
        n = int(torch.randint(12, 64, (), generator=g))
        words = topic[torch.randint(0, 120, (n,), generator=g)]
        noise = torch.randint(1, VOCAB, (n,), generator=g)
        documents.append(torch.where(torch.rand(n, generator=g) < 0.3, noise, words))
    queries, truth = [], torch.randint(0, DOCUMENTS, (QUERIES,), generator=g)
    for d in truth.tolist():
        doc = documents[d]
        n = int(torch.randint(3, 12, (), generator=g))
        queries.append(doc[torch.randint(0, len(doc), (n,), generator=g)])
    return documents, queries, truth


@torch.inference_mode()
def encode_all(model: Encoder, texts: list[torch.Tensor], batch: int) -> torch.Tensor:
    """Texts of like length go together, so that little is padded."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    out = torch.empty(len(texts), DIM)
    for start in range(0, len(order), batch):
        index = order[start:start + batch]
        padded = nn.utils.rnn.pad_sequence([texts[i] for i in index], batch_first=True)
        out[torch.tensor(index)] = model(padded)
    return out


@torch.inference_mode()
def rank(queries: torch.Tensor, documents: torch.Tensor, truth: torch.Tensor, chunk: int) -> torch.Tensor:
    """Zero-based rank of the right document, TOP if it is not among the first TOP."""
    ranks = torch.full((len(queries),), TOP)
    for start in range(0, len(queries), chunk):
        rows = slice(start, start + chunk)
        scores = queries[rows] @ documents.T
        best = scores.topk(TOP, dim=1).indices
        hit = best == truth[rows, None]
        found = hit.any(1)
        ranks[rows] = torch.where(found, hit.int().argmax(1), ranks[rows])
    return ranks


def metrics(ranks: torch.Tensor) -> dict[str, float]:
    found = ranks < TOP
    r = ranks.double()
    gain = torch.where(found & (ranks < 10), 1 / torch.log2(r + 2), 0.0)
    return {
        "recall@1": (ranks < 1).double().mean().item(),
        "recall@10": (ranks < 10).double().mean().item(),
        "recall@50": found.double().mean().item(),
        "mrr": torch.where(found, 1 / (r + 1), 0.0).mean().item(),
        "ndcg@10": gain.mean().item(),
    }


def by_length(queries: list[torch.Tensor], ranks: torch.Tensor) -> dict[str, float]:
    groups: dict[str, list[int]] = defaultdict(list)
    for q, r in zip(queries, ranks.tolist()):
        groups["short" if len(q) < 5 else "medium" if len(q) < 8 else "long"].append(r)
    return {k: sum(r < 10 for r in v) / len(v) for k, v in groups.items()}


def main() -> None:
    torch.manual_seed(8)
    documents, queries, truth = make_collection(seed=9)
    model = Encoder().eval()
    doc_vectors = encode_all(model, documents, batch=96)
    query_vectors = encode_all(model, queries, batch=128)
    ranks = rank(query_vectors, doc_vectors, truth, chunk=256)
    for name, value in metrics(ranks).items():
        print(f"{name:10s} {value:.4f}")
    lengths = by_length(queries, ranks)
    print("recall@10 by query length:", " ".join(f"{k}={lengths[k]:.3f}" for k in sorted(lengths)))
    print(f"mean log rank {math.log(2):.3f} x {torch.log2(ranks.double() + 1).mean():.3f}")


if __name__ == "__main__":
    main()

"""Evaluates an image-retrieval model: embeds a gallery and a set of queries, and
reports recall at several depths and the mean reciprocal rank of the first match."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


class ProductPhotos(Dataset):
    """Rendered stand-ins for product photos: a pattern per product, noise per photo."""

    def __init__(self, products, photos, size, seed):
        gen = torch.Generator().manual_seed(seed)
        self.pattern = torch.randn(products, 3, 4, 4, generator=torch.Generator().manual_seed(1))
        self.product = torch.randint(products, (photos,), generator=gen)
        self.size = size
        self.seed = seed

    def __len__(self):
        return self.product.numel()

    def __getitems__(self, indices):
        index = torch.tensor(indices)
        gen = torch.Generator().manual_seed(self.seed * 100_003 + indices[0])
        product = self.product[index]
        image = F.interpolate(self.pattern[product], size=self.size, mode="bilinear", align_corners=False)
        noise = torch.randn(image.shape, generator=gen)
        gain = 0.8 + 0.4 * torch.rand(len(indices), 1, 1, 1, generator=gen)
        return image * gain + 1.5 * noise, product


def keep_batch(batch):
    return batch


class Embedder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
        )
        self.project = nn.Linear(32 * 4 * 4, dim)

    def forward(self, images):
        x = F.adaptive_avg_pool2d(self.features(images), 4)
        return F.normalize(self.project(x.flatten(1)), dim=1)


@torch.inference_mode()
def embed(model, dataset, batch_size):
    loader = DataLoader(dataset, batch_size=batch_size, collate_fn=keep_batch)
    vectors, labels = [], []
    for images, product in loader:
        vectors.append(model(images))
        labels.append(product)
    return torch.cat(vectors), torch.cat(labels)


class RankingMeter:
    """Recall and reciprocal rank over the first `depth` results of every query."""

    def __init__(self, depths):
        self.depths = sorted(depths)
        self.depth = self.depths[-1]
        self.hits = {k: 0 for k in self.depths}
        self.reciprocal = 0.0
        self.queries = 0

    def update(self, scores, gallery_labels, query_labels):
        ranked = scores.topk(self.depth, dim=1).indices
        match = gallery_labels[ranked] == query_labels.unsqueeze(1)
        for k in self.depths:
            self.hits[k] += int(match[:, :k].any(1).sum())
        first = match.float().argmax(1)
        found = match.any(1)
        self.reciprocal += float((found / (first + 1.0)).sum())
        self.queries += query_labels.numel()

    def result(self):
        out = {f"recall@{k}": self.hits[k] / self.queries for k in self.depths}
        out["mrr"] = self.reciprocal / self.queries
        return out


@torch.inference_mode()
def evaluate(model, gallery, queries, batch_size, query_batch):
    gallery_vectors, gallery_labels = embed(model, gallery, batch_size)
    query_vectors, query_labels = embed(model, queries, batch_size)
    meter = RankingMeter([1, 5, 20])
    for vectors, labels in zip(query_vectors.split(query_batch), query_labels.split(query_batch)):
        meter.update(vectors @ gallery_vectors.T, gallery_labels, labels)
    return meter.result()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--products", type=int, default=3000)
    p.add_argument("--gallery", type=int, default=16000)
    p.add_argument("--queries", type=int, default=3000)
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--batch", type=int, default=250)
    p.add_argument("--query-batch", type=int, default=60)
    args = p.parse_args()
    torch.manual_seed(0)
    model = Embedder().eval()
    gallery = ProductPhotos(args.products, args.gallery, args.size, seed=2)
    queries = ProductPhotos(args.products, args.queries, args.size, seed=3)
    result = evaluate(model, gallery, queries, args.batch, args.query_batch)
    print(f"gallery {len(gallery)} queries {len(queries)} "
          + " ".join(f"{k} {v:.4f}" for k, v in result.items()))


if __name__ == "__main__":
    main()

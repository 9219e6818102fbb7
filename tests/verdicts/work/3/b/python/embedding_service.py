"""Sentence-embedding service: client threads enqueue requests, one worker
groups them by length and answers whole batches."""
import queue
import random
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import torch
from torch import nn

VOCAB = 5000
WIDTH = 128
MAX_BATCH = 48


class SentenceEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH, padding_idx=0)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 3 * WIDTH, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)

    def forward(self, ids):
        pad = ids == 0
        x = self.layers(self.embed(ids), src_key_padding_mask=pad)
        x = x.masked_fill(pad.unsqueeze(2), 0.0).sum(dim=1) / (~pad).sum(dim=1, keepdim=True)
        return nn.functional.normalize(x, dim=1)


class EmbeddingWorker(threading.Thread):
    def __init__(self, model):
        super().__init__(name="embedder")
        self.model = model
        self.inbox = queue.Queue()
        self.batches = 0

    def submit(self, ids):
        future = Future()
        self.inbox.put((ids, future))
        return future

    def close(self):
        self.inbox.put(None)
        self.join()

    def collect(self):
        """Block for one request, then take whatever else is waiting."""
        items = [self.inbox.get()]
        while items[-1] is not None and len(items) < MAX_BATCH:
            try:
                items.append(self.inbox.get_nowait())
            except queue.Empty:
                break
        return items

    @torch.inference_mode()
    def run(self):
        while True:
            items = self.collect()
            work = [i for i in items if i is not None]
            if work:
                self.answer(work)
            if items[-1] is None:
                return

    def answer(self, work):
        ids = nn.utils.rnn.pad_sequence([w[0] for w in work], batch_first=True)
        vectors = self.model(ids)
        self.batches += 1
        for (_, future), v in zip(work, vectors):
            future.set_result(v)


def make_documents(count, seed):
    rng = random.Random(seed)
    docs = [torch.tensor([rng.randrange(1, VOCAB) for _ in range(rng.randrange(20, 50))]) for _ in range(count)]
    return sorted(docs, key=len)


def client(worker, docs, window=64):
    """Keeps a window of requests in flight, returns a crude checksum."""
    total = torch.zeros(WIDTH)
    for at in range(0, len(docs), window):
        futures = [worker.submit(d) for d in docs[at:at + window]]
        for f in futures:
            total += f.result()
    return total


def main(clients=3, documents=5000):
    torch.manual_seed(6)
    worker = EmbeddingWorker(SentenceEncoder().eval())
    worker.start()
    docs = make_documents(documents, seed=1)
    with ThreadPoolExecutor(clients) as pool:
        parts = list(pool.map(lambda k: client(worker, docs[k::clients]), range(clients)))
    worker.close()
    total = torch.stack(parts).sum(dim=0)
    print(f"documents {documents} norm {total.norm():.2f} first {total[0]:.2f}")


if __name__ == "__main__":
    main()

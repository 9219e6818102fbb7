"""Text embedding service: client threads submit snippets, one worker collects
them into batches of similar length and runs the encoder."""
import queue
import random
import threading
import zlib

import torch
from torch import nn

VOCAB = 3000
BATCH = 32


class Encoder(nn.Module):
    def __init__(self, dim=128, heads=4, layers=3):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.place = nn.Embedding(128, dim)
        block = nn.TransformerEncoderLayer(dim, heads, 3 * dim, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)

    def forward(self, tokens):
        pad = tokens == 0
        x = self.embed(tokens) + self.place(torch.arange(tokens.shape[1]))
        x = self.blocks(x, src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(2).float()
        return nn.functional.normalize((x * keep).sum(1) / keep.sum(1), dim=1)


class Ticket:
    def __init__(self, text):
        self.tokens = tokenize(text)
        self.done = threading.Event()
        self.vector = None


def tokenize(text):
    return [1 + zlib.crc32(word.encode()) % (VOCAB - 1) for word in text.split()][:128]


def collate(tickets):
    width = max(len(t.tokens) for t in tickets)
    return torch.tensor([t.tokens + [0] * (width - len(t.tokens)) for t in tickets])


class Service(threading.Thread):
    def __init__(self, model):
        super().__init__()
        self.model = model.eval()
        self.inbox = queue.Queue()
        self.batches = 0
        self.closed = False

    def submit(self, text):
        ticket = Ticket(text)
        self.inbox.put(ticket)
        return ticket

    def close(self):
        self.inbox.put(None)

    def gather(self):
        """Blocks for the first ticket, then takes whatever else is there."""
        tickets = []
        while len(tickets) < 8 * BATCH:
            try:
                ticket = self.inbox.get() if not tickets else self.inbox.get_nowait()
            except queue.Empty:
                break
            if ticket is None:
                self.closed = True
                break
            tickets.append(ticket)
        return sorted(tickets, key=lambda t: len(t.tokens))

    @torch.inference_mode()
    def embed(self, tickets):
        vectors = self.model(collate(tickets))
        for ticket, vector in zip(tickets, vectors):
            ticket.vector = vector
            ticket.done.set()
        self.batches += 1

    def run(self):
        while not self.closed:
            tickets = self.gather()
            for start in range(0, len(tickets), BATCH):
                self.embed(tickets[start:start + BATCH])


def snippets(count, seed):
    rng = random.Random(seed)
    words = ["ship", "late", "blue", "crate", "north", "valve", "pump", "spare", "order", "check", "seal", "rust"]
    for _ in range(count):
        yield " ".join(rng.choice(words) + str(rng.randint(0, 99)) for _ in range(rng.randint(8, 90)))


def client(service, texts, results, slot):
    tickets = [service.submit(text) for text in texts]
    total = torch.zeros(128)
    for ticket in tickets:
        ticket.done.wait()
        total += ticket.vector
    results[slot] = total / len(tickets)


def main():
    torch.manual_seed(61)
    service = Service(Encoder())
    results = [None] * 4
    clients = [threading.Thread(target=client, args=(service, list(snippets(1000, seed=70 + i)), results, i))
               for i in range(4)]
    service.start()
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    service.close()
    service.join()
    centre = torch.stack(results)
    for i in range(4):
        print(f"client {i} norm {centre[i].norm().item():.3f}")
    print(f"similarity {nn.functional.cosine_similarity(centre[0], centre[1], dim=0).item():.3f}")


if __name__ == "__main__":
    main()

"""Fine-tunes a small transformer on paraphrases with a trainer class in the manner of Hugging Face's.

Planted: evaluate() does not disable gradients, so each evaluation builds graphs that nobody uses; it runs
every 15 steps.
Truth: time of evaluate(), as a share of the loop.
"""
import dataclasses

import torch
from torch import nn

from stopwatch import Stopwatch


@dataclasses.dataclass
class Arguments:
    learning_rate: float = 0.02
    batch: int = 16
    evaluate_every: int = 15
    seconds: float = 9.0


class Paraphrase(nn.Module):
    def __init__(self, vocabulary=4000, width=128):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        layer = nn.TransformerEncoderLayer(width, 4, 256, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.classifier = nn.Linear(width, 2)

    def forward(self, input_ids, labels):
        logits = self.classifier(self.encoder(self.embedding(input_ids)).mean(1))
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


class Trainer:
    def __init__(self, model, arguments, watch):
        self.model, self.arguments, self.watch = model, arguments, watch
        self.optimizer = torch.optim.SGD(model.parameters(), lr=arguments.learning_rate)
        self.validation = [self.draw() for _ in range(20)]

    def draw(self):
        return {"input_ids": torch.randint(4000, (self.arguments.batch, 48)), "labels": torch.randint(2, (self.arguments.batch,))}

    def training_step(self, inputs):
        self.model.train()
        loss = self.model(**inputs)["loss"]
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def evaluate(self):
        self.model.eval()
        right = sum((self.model(**inputs)["logits"].argmax(1) == inputs["labels"]).sum() for inputs in self.validation)
        return int(right) / sum(len(inputs["labels"]) for inputs in self.validation)

    def train(self):
        accuracy = 0.0
        with self.watch.loop():
            while self.watch.seconds() < self.arguments.seconds:
                self.training_step(self.draw())
                self.watch.step()
                if len(self.watch.marks) % self.arguments.evaluate_every == 0:
                    with self.watch.planted():
                        accuracy = self.evaluate()
        print(f"accuracy {accuracy:.3f}")


def main():
    torch.manual_seed(13)
    watch = Stopwatch()
    Trainer(Paraphrase(), Arguments(), watch).train()
    watch.tell()


if __name__ == "__main__":
    main()

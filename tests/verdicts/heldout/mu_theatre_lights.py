"""Chooses the lights of a theatre from the play's text: an encoder with attention reads scenes of one length. Inference.

Clean: scenes lie in memory as batches of one shape, the answers go into a tensor that is there; the machine just computes.
Truth: time of fetching the scenes and of keeping the answers, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, LENGTH, LAMPS = 3000, 64, 40


class Lights(nn.Module):
    def __init__(self, width=192, depth=3):
        super().__init__()
        self.word = nn.Embedding(WORDS, width)
        self.place = nn.Parameter(0.02 * torch.randn(LENGTH, width))
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, activation="gelu", batch_first=True, norm_first=True)
        self.read = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.lamps = nn.Linear(width, LAMPS)

    def forward(self, scenes):
        return torch.sigmoid(self.lamps(self.read(self.word(scenes) + self.place).mean(1)))


@torch.inference_mode()
def main():
    torch.manual_seed(33)
    watch, lights = Stopwatch(), Lights().eval()
    scenes = torch.randint(0, WORDS, (12, 8, LENGTH))
    plan = torch.zeros(12, 8, LAMPS)
    for _ in range(3):
        lights(scenes[0])
    with watch.loop():
        night = 0
        while watch.seconds() < 6:
            with watch.planted():
                batch = scenes[night % 12]
            chosen = lights(batch)
            with watch.planted():
                plan[night % 12] = chosen
            night += 1
            watch.step()
    print(f"mean light {plan.mean().item():.3f}")
    watch.tell()


main()

"""Variational autoencoder for synthetic Raman spectra."""
import torch
from torch import nn
import torch.nn.functional as F

BINS = 512
LATENT = 12


def make_spectra(count, seed):
    g = torch.Generator().manual_seed(seed)
    axis = torch.linspace(0, 1, BINS)
    out = torch.zeros(count, BINS)
    for _ in range(6):
        centre = torch.rand(count, 1, generator=g)
        width = 0.01 + 0.02 * torch.rand(count, 1, generator=g)
        out += torch.rand(count, 1, generator=g) * torch.exp(-((axis - centre) / width) ** 2)
    return out + 0.02 * torch.randn(count, BINS, generator=g)


class SpectraVAE(nn.Module):
    def __init__(self, hidden=512):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(BINS, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(),
                                     nn.Linear(hidden, 2 * LATENT))
        self.decoder = nn.Sequential(nn.Linear(LATENT, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(),
                                     nn.Linear(hidden, BINS))

    def forward(self, x):
        mean, log_var = self.encoder(x).chunk(2, dim=1)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_var)
        return self.decoder(z), mean, log_var


def objective(model, x):
    y, mean, log_var = model(x)
    fit = F.mse_loss(y, x, reduction="sum") / len(x)
    divergence = -0.5 * (1 + log_var - mean.square() - log_var.exp()).sum() / len(x)
    return 50 * fit + divergence


def main():
    torch.manual_seed(8)
    torch.set_num_threads(1)
    spectra = make_spectra(8_000, 2)
    model = SpectraVAE()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    for epoch in range(3):
        total = torch.zeros(())
        for rows in torch.randperm(len(spectra)).split(256):
            loss = objective(model, spectra[rows])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.detach() * len(rows)
        print(f"epoch {epoch} objective {total.item() / len(spectra):.2f}")


if __name__ == "__main__":
    main()

"""hydra: four jobs of one process, each 200 steps."""
import hydra
import torch


@hydra.main(version_base=None, config_path=None)
def train(options):
    model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=float(options.lr))
    for _ in range(200):
        inputs = torch.randn(32, 20)
        loss = (model(inputs) - inputs.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(float(options.lr), float(loss))


train()

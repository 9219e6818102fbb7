#!/usr/bin/python3
"""Which framework's loop calls the optimizer of an unmodified script: verdicts use its words.

usage: torch_framework_test.py path/to/dwell

The last line is "N passed, N failed"; exit status 1 if a check failed; 77: PyTorch, Lightning or Ignite are not here.
"""
import os
import subprocess
import sys
import tempfile

import forked
import installed

for package in ("torch", "lightning", "ignite"):
    installed.need(package)
SERVER = forked.Server("lightning.pytorch", "ignite.engine")
HEAD = """
import torch, ignite.engine, lightning.pytorch as pl
model = torch.nn.Linear(4, 1)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(40, 4)), batch_size=4)
def update(engine, batch):
    optimizer.zero_grad(); model(batch[0]).sum().backward(); optimizer.step()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
"""
SCRIPTS = {  # what the trace says of each
    "Lightning": """
class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = model
    def training_step(self, batch, number):
        return self.model(batch[0]).sum()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)
pl.Trainer(max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
           accelerator="cpu").fit(Module(), data)
""",
    "Ignite": "ignite.engine.Engine(update).run(data, max_epochs=2)",
    "PyTorch": "for batch in data: update(None, batch)",
}


def main():
    dwell, failed = os.path.abspath(sys.argv[1]), 0
    with tempfile.TemporaryDirectory() as folder:
        for name, script in SCRIPTS.items():
            trace, path = (os.path.join(folder, name + end) for end in (".dwell", ".py"))
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEAD + script)
            done = SERVER.run(dwell, "-o", trace, script=path)
            facts = subprocess.run([dwell, "report", "--view", "facts", trace], stdout=subprocess.PIPE, text=True, check=False).stdout
            found = next((line.split()[-1] for line in facts.splitlines() if line.startswith("trace.framework")), "nothing")
            failed += found != name
            print(f"{'ok  ' if found == name else 'FAIL'} {name}: {found} {done.stderr[-500:] if found != name else ''}")
    print(f"{len(SCRIPTS) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) == 2 else __doc__)

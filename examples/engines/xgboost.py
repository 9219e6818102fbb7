#!/usr/bin/env python3
"""XGBoost's library as pip has it, trained on random rows. Steps: --step-on the call of its C interface for a round."""
import os
import re

from engine import Engine, venv

ROUNDS = 150

python = venv("fit")
engine = Engine("xgboost")
with open(os.path.join(engine.folder, "train.py"), "w", encoding="ascii") as file:
    file.write(f"""import time\nimport numpy, xgboost
chance = numpy.random.default_rng(1)
rows = chance.random((20000, 30), dtype="f4")
data = xgboost.DMatrix(rows, label=(rows[:, :5].sum(axis=1) > 2.5))
model = xgboost.Booster({{"objective": "binary:logistic", "tree_method": "hist", "nthread": 1}}, [data])
begun = time.perf_counter()
for at in range({ROUNDS}):
    model.update(data, at)
print("took", 1e3 * (time.perf_counter() - begun), "ms")
""")
engine.count("libxgboost.so:XGBoosterUpdateOneIter", python, "train.py", calls=ROUNDS,
             own_ms=lambda said: float(re.search(r"took ([\d.]+) ms", said).group(1)))

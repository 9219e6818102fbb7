"""Trainer of transformers: 80 steps of a small GPT-2 on random tokens."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

torch.manual_seed(1)
rows = [{"input_ids": row, "labels": row} for row in torch.randint(0, 1000, (640, 64))]
model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_embd=128, n_head=4, vocab_size=1000, n_positions=64))
arguments = TrainingArguments("out", max_steps=80, per_device_train_batch_size=8, report_to=[], use_cpu=True)
Trainer(model, arguments, train_dataset=rows).train()

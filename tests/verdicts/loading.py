"""Loading: what the loop waits for before each step.

The planted time is the wait in next(): measured around it, in the loop's thread. Where the samples
come from workers the wait depends on two processes; a busy machine makes it longer.

in-process     the data set decompresses its samples in the loop's process         loader-in-process
read           the data set waits for its storage, in the loop's process           loader-in-process, loader-part
collate        collate_fn pads and copies in Python, in the loop's process         loader-in-process, loader-part
workers        two workers wait for storage longer than a step takes               loader-slow-workers
decode-worker  one worker decompresses longer than a step takes                    loader-slow-workers
handover       samples carry long lists of boxes: unpickling takes the time        loader-handover
restart        workers are started anew for each short epoch                       loader-restart
one-slow       one of two workers is slow, the other is not                        loader-one-slow-worker
burst          a worker opens a slow shard now and then, one batch ahead           loader-shallow-queue

Decoys: what looks alike
prepare        all samples are decompressed before the loop
small-samples  the data set calls many small operators, but takes little
full-queue     workers that take long for a sample, but are ahead of the loop all the time
persistent     short epochs, and workers that stay
slow-start     the workers' first batch is late; the others wait for nothing
"""
import pickle
import time
import zlib

import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

from planted import BATCH, Run, Training, compute, images, wait

run = Run()
cause = run.cause
ms = run.ms()  # a batch's planted milliseconds, at the start
# The planted and the other milliseconds of a step, as the loop measures them. Its workers read them here.
pace = torch.tensor([ms, run.rest_ms()]).share_memory_()
packed = zlib.compress(pickle.dumps(torch.randn(3, 32, 32).numpy().round(1)), 1)


def decompress(milliseconds):
    """Decodes the sample again and again, for as long as a larger sample takes."""
    end = time.perf_counter() + milliseconds / 1e3
    while True:
        array = pickle.loads(zlib.decompress(packed))
        if time.perf_counter() >= end:
            return torch.from_numpy(array)


class Samples(Dataset):
    def __init__(self, count):
        self.count = count
        self.images, self.labels = images(64)

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        planted, step = pace.tolist()
        if cause == "in-process" and ms:
            return decompress(planted / BATCH), number % 10
        if cause == "read":
            wait(planted / BATCH)
        elif cause == "workers" and ms:
            # Each of two workers has the time of two steps for a batch. The loop waits for the rest.
            wait((step + planted) * 2 / BATCH)
        elif cause == "decode-worker" and ms:
            return decompress((step + planted) / BATCH), number % 10
        elif cause == "one-slow" and ms and get_worker_info().id == 1:
            # This worker makes every other batch: it has the time of two steps. The loop waits for the rest.
            wait((step + planted) * 2 / BATCH)
        elif cause == "burst" and ms and number % (10 * BATCH) == 0:
            # One worker is one batch ahead: it has the time of a step. The loop waits for the rest.
            wait(step + planted * 10)
        elif cause == "full-queue":
            wait(step * 0.8 / BATCH)
        elif cause == "slow-start" and number < BATCH:
            wait(40)
        elif cause == "handover":
            return [(k, 0.5 * k) for k in range(boxes)], number % 10
        elif cause == "small-samples":
            image = self.images[number % 64]
            for _ in range(6):
                image = image.unsqueeze(0).squeeze(0).reshape(3, 32, 32)
            return image, number % 10
        return self.images[number % 64], number % 10


def collate(samples):
    if cause == "collate":
        compute(pace[0].item())
    return torch.stack([image for image, _ in samples]), torch.tensor([label for _, label in samples])


def keep_lists(samples):
    return samples


def unpickling_ms(count=20000):
    """Milliseconds to unpickle a box."""
    text = pickle.dumps([(k, 0.5 * k) for k in range(count)])
    began = time.perf_counter()
    pickle.loads(text)
    return (time.perf_counter() - began) * 1e3 / count


boxes = round(ms / BATCH / unpickling_ms()) if cause == "handover" else 0
workers = {"workers": 2, "decode-worker": 1, "handover": 2, "restart": 2, "one-slow": 2, "burst": 1, "full-queue": 2,
           "persistent": 2, "slow-start": 2}.get(cause, 0)
options = {"num_workers": workers}
if workers:
    options["prefetch_factor"] = 1 if cause == "burst" else 4
if cause == "collate":
    options["collate_fn"] = collate
if cause == "handover":
    options["collate_fn"] = keep_lists
if cause == "persistent":
    options["persistent_workers"] = True

if __name__ == "__main__":
    training, fixed = Training(), images()
    # An epoch of `restart`: about 30 ms to start two workers are the share of its steps.
    epoch = run.count
    if cause in ("restart", "persistent"):
        epoch = max(4, round(30 / ms)) if ms else run.count
        run.say(steps_an_epoch=epoch)
    if cause == "prepare":
        kept = [(decompress(10), k) for k in range(100)]
    loader = DataLoader(Samples(epoch * BATCH), BATCH, **options)
    done = 0
    while done < run.count:
        run.begin()
        with run.planting():
            batches = iter(loader)
            batch = next(batches)
        while batch is not None:
            training.one(fixed if cause == "handover" else batch)
            pace[0], pace[1] = run.ms(), run.rest_ms()
            done += 1
            if done < run.count:
                if done % epoch:
                    run.begin()
                with run.planting():
                    batch = next(batches, None)
            else:
                batch = None
    run.end()
    run.close()

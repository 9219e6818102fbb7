"""Finds doubles in a library of drum loops: an encoder of convolutions learns by contrast that two cuts of one loop belong
together, with Ignite and many handlers; another process of torch.multiprocessing keeps the index.

Decoy: a queue to the other process at each step, a lock that both have, a checkpoint in memory, logs, timers and a
collection look costly; each takes a moment.
Truth: time of the handlers and of the queue, of the loop.
"""
import gc
import io
import logging

import torch
import torch.multiprocessing as mp
from ignite.engine import Engine, Events
from ignite.handlers import Timer, TerminateOnNan
from torch import nn

from stopwatch import Stopwatch

BANDS, FRAMES, BATCH = 32, 128, 48


def index(queue, lock, size):
    """Keeps the codes of the last loops."""
    torch.set_num_threads(1)
    codes = []
    while (code := queue.get()) is not None:
        with lock:
            codes = [*codes[-200:], code]
            size.value = len(codes)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(BANDS, 96, 7, padding=3), nn.ReLU(), nn.Conv1d(96, 96, 5, stride=2, padding=2), nn.ReLU(),
                                  nn.Conv1d(96, 128, 5, stride=2, padding=2), nn.ReLU())
        self.code = nn.Linear(128, 48)

    def forward(self, loops):
        return nn.functional.normalize(self.code(self.body(loops).mean(2)), dim=1)


def main():
    torch.manual_seed(29)
    context = mp.get_context("spawn")
    queue, lock, size = context.SimpleQueue(), context.Lock(), context.Value("i", 0)
    helper = context.Process(target=index, args=(queue, lock, size), daemon=True)
    helper.start()
    log = logging.getLogger("drums")
    log.addHandler(logging.FileHandler("drums.log"))
    log.setLevel(logging.INFO)
    model, watch = Encoder(), Stopwatch()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    library = torch.randn(16, BATCH, BANDS, 2 * FRAMES)

    def contrast(engine, loops):
        one, two = model(loops[..., :FRAMES]), model(loops[..., FRAMES:])
        loss = nn.functional.cross_entropy(one @ two.T / 0.1, torch.arange(BATCH))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item(), one.detach()

    trainer = Engine(contrast)
    Timer(average=True).attach(trainer, resume=Events.ITERATION_STARTED, pause=Events.ITERATION_COMPLETED, step=Events.ITERATION_COMPLETED)
    trainer.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan(output_transform=lambda output: output[0]))
    gc.collect()
    gc.freeze()

    @trainer.on(Events.ITERATION_COMPLETED)
    def tell_index(engine):
        with watch.planted():
            queue.put([round(x, 3) for x in engine.state.output[1][0, :4].tolist()])
            with lock:
                known = size.value
            log.info("%d: %.4f, %d known", engine.state.iteration, engine.state.output[0], known)

    @trainer.on(Events.ITERATION_COMPLETED(every=25))
    def keep(engine):
        with watch.planted():
            torch.save(model.state_dict(), io.BytesIO())
            gc.collect()

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 6.5:
            engine.terminate()

    while not queue.empty():
        pass
    with watch.loop():
        trainer.run(library, max_epochs=1000)
    queue.put(None)
    helper.join()
    watch.tell()


if __name__ == "__main__":
    main()

"""Learns to steer a greenhouse. A thread renders a page for the growers while the loop learns.

Planted: each 0.25 s after the last page the thread writes the next in Python for 0.1 s or more, and the loop's operators wait for the GIL meanwhile.
Truth: time in which the loop's thread was on no CPU, of the loop.
"""
import html
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

SENSORS, ACTIONS = 64, 12


class Dashboard(threading.Thread):
    """The newest readings as a table in HTML."""

    def __init__(self):
        super().__init__(daemon=True)
        self.readings, self.stop, self.pages, self.page = [], threading.Event(), 0, ""

    def render(self):
        rows = []
        for number, line in enumerate(self.readings[-60:] * 30):
            cells = "".join(f"<td class='{'warm' if value > 0.5 else 'cold'}'>{html.escape(format(value, '.2f'))}</td>" for value in line)
            rows.append(f"<tr><th>{number}</th>{cells}</tr>")
        return "<table>" + "\n".join(rows) + "</table>"

    def run(self):
        while not self.stop.wait(0.25):
            self.page = self.render()
            self.pages += 1


class Greenhouse:
    def __init__(self):
        self.state = torch.zeros(192, SENSORS)
        self.effect = 0.1 * torch.randn(ACTIONS, SENSORS)

    def observe(self, action):
        self.state = 0.95 * self.state + nn.functional.one_hot(action, ACTIONS).float() @ self.effect + 0.05 * torch.randn_like(self.state)
        return self.state, -(self.state - 0.3).square().mean(1)


def main():
    torch.manual_seed(21)
    torch.set_num_threads(1)
    watch = Stopwatch()
    actor = nn.Sequential(nn.Linear(SENSORS, 320), nn.SiLU(), nn.Linear(320, 320), nn.SiLU(), nn.Linear(320, ACTIONS))
    critic = nn.Sequential(nn.Linear(SENSORS, 320), nn.SiLU(), nn.Linear(320, 1))
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-4)
    house, dashboard = Greenhouse(), Dashboard()
    dashboard.start()
    state = house.state
    with watch.loop():
        cpu = time.thread_time()
        while watch.seconds() < 6.5:
            policy = torch.distributions.Categorical(logits=actor(state))
            action = policy.sample()
            following, reward = house.observe(action)
            with torch.no_grad():
                target = reward + 0.9 * critic(following)[:, 0]
            advantage = target - critic(state)[:, 0]
            loss = advantage.square().mean() - (policy.log_prob(action) * advantage.detach()).mean() - 0.01 * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            state = following.detach()
            dashboard.readings.append(state[0].tolist())
            watch.step()
        cpu = time.thread_time() - cpu
    dashboard.stop.set()
    dashboard.join()
    print(f"{dashboard.pages} pages")
    watch.tell(share=1 - cpu / (watch.ended - watch.began))


if __name__ == "__main__":
    main()

"""Steers gondolas of a cable car against gusts: an actor and a critic over a bay of simulated cabins, advantages with lambda, one update a flight.

Clean: nothing is planted; each step flies as many cabins through as many moments and makes one update.
Truth: nothing comes near a cause, 0.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

CABINS, FLIGHT, WIDTH, BRAKES = 768, 6, 160, 7


class Cabins:
    """All cabins at once: swing, its speed, the wind, and where on the rope they are."""

    def __init__(self):
        self.state = torch.zeros(CABINS, 4)

    def reset(self, seed):
        self.state = torch.sin(torch.arange(CABINS * 4).view(CABINS, 4) * (0.11 + 0.01 * seed))
        return self.state

    def move(self, brake):
        swing, speed, wind, rope = self.state.unbind(1)
        force = (brake.float() - BRAKES // 2) / BRAKES
        speed = 0.95 * speed - 0.2 * torch.sin(swing) + 0.1 * wind + 0.3 * force
        swing = swing + 0.1 * speed
        wind = 0.9 * wind + 0.1 * torch.cos(7 * rope)
        self.state = torch.stack([swing, speed, wind, rope + 0.05], 1)
        return self.state, -swing.square() - 0.1 * speed.square()


class Pilot(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, WIDTH), nn.ELU(), nn.Linear(WIDTH, WIDTH), nn.ELU(), nn.Linear(WIDTH, BRAKES))
        self.critic = nn.Sequential(nn.Linear(4, WIDTH), nn.ELU(), nn.Linear(WIDTH, WIDTH), nn.ELU(), nn.Linear(WIDTH, 1))


def advantages(rewards, values, last, gamma=0.97, weight=0.9):
    gain, result = torch.zeros(CABINS), []
    for reward, value, after in zip(reversed(rewards), reversed(values), [last, *reversed(values[1:])]):
        gain = reward + gamma * after - value + gamma * weight * gain
        result.append(gain)
    return torch.cat(result[::-1])


def main():
    torch.manual_seed(12)
    torch.set_num_threads(1)
    watch, cabins, pilot = Stopwatch(), Cabins(), Pilot()
    optimizer = torch.optim.Adam(pilot.parameters(), lr=2e-5, fused=True)
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            state = cabins.reset(number % 9)
            states, brakes, rewards, values = [], [], [], []
            with torch.no_grad():
                for _ in range(FLIGHT):
                    logits = pilot.actor(state)
                    brake = (logits - torch.empty_like(logits).exponential_().log()).argmax(1)
                    states.append(state)
                    brakes.append(brake)
                    values.append(pilot.critic(state).squeeze(1))
                    state, reward = cabins.move(brake)
                    rewards.append(reward)
                better = advantages(rewards, values, pilot.critic(state).squeeze(1))
            seen, chosen = torch.cat(states), torch.cat(brakes)
            chance = torch.log_softmax(pilot.actor(seen), 1).gather(1, chosen[:, None]).squeeze(1)
            guess = pilot.critic(seen).squeeze(1)
            loss = -(chance * better).mean() + 0.5 * (guess - torch.cat(values) - better).square().mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()

"""Advantage actor-critic for a paddle and a ball; 8 games are played at once, as tensors.

Planted: generalised advantages are computed game by game and from the last frame to the first, with a few operators on a
single number each.
Truth: time of these advantages, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

GAMES, FRAMES, STATE, ACTIONS = 8, 32, 6, 3
GAMMA, LAMBDA = 0.99, 0.95


class Player(nn.Module):
    def __init__(self, width=448):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(STATE * 4, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.policy, self.value = nn.Linear(width, ACTIONS), nn.Linear(width, 1)

    def forward(self, frames):
        features = self.body(frames)
        return self.policy(features), self.value(features).squeeze(-1)


class Games:
    """Position and velocity of balls, position and velocity of paddles."""

    def __init__(self):
        self.state = torch.rand(GAMES, STATE) - 0.5
        self.history = self.state.repeat(1, 4)

    def play(self, actions):
        ball, speed, paddle = self.state[:, 0:2], self.state[:, 2:4], self.state[:, 4] + 0.05 * (actions - 1)
        ball = ball + 0.1 * speed
        speed = torch.where(ball.abs() > 1, -speed, speed)
        missed = (ball[:, 0] < -1) & ((ball[:, 1] - paddle).abs() > 0.2)
        self.state = torch.cat([ball.clamp(-1, 1), speed, paddle.clamp(-1, 1)[:, None], paddle[:, None] - ball[:, 1:2]], 1)
        self.history = torch.cat([self.history[:, STATE:], self.state], 1)
        return 0.1 - missed.float(), missed


def advantages(rewards, values, done, last):
    result = torch.zeros(FRAMES, GAMES)
    for game in range(GAMES):
        running, following = torch.tensor(0.0), last[game]
        for frame in reversed(range(FRAMES)):
            alive = 1 - done[frame, game].float()
            delta = rewards[frame, game] + GAMMA * following * alive - values[frame, game]
            running = delta + GAMMA * LAMBDA * alive * running
            result[frame, game] = running
            following = values[frame, game]
    return result


def main():
    torch.manual_seed(11)
    watch = Stopwatch()
    player, games = Player(), Games()
    optimizer = torch.optim.RMSprop(player.parameters(), lr=1e-4)
    won = 0.0
    with watch.loop():
        while watch.seconds() < 6.5:
            seen, acted, rewards, done, values = [], [], [], [], []
            with torch.no_grad():
                for _ in range(FRAMES):
                    scores, value = player(games.history)
                    actions = torch.distributions.Categorical(logits=scores).sample()
                    seen.append(games.history)
                    reward, missed = games.play(actions)
                    acted.append(actions), rewards.append(reward), done.append(missed), values.append(value)
                last = player(games.history)[1]
                with watch.planted():
                    gained = advantages(torch.stack(rewards), torch.stack(values), torch.stack(done), last)
            scores, value = player(torch.stack(seen))
            chosen = torch.distributions.Categorical(logits=scores)
            targets = gained + torch.stack(values)
            loss = -(chosen.log_prob(torch.stack(acted)) * gained).mean() + 0.5 * ((value - targets) ** 2).mean() - 0.01 * chosen.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(player.parameters(), 0.5)
            optimizer.step()
            won = 0.9 * won + 0.1 * torch.stack(rewards).sum().item()
            watch.step()
    print(f"reward {won:.2f}")
    watch.tell()


if __name__ == "__main__":
    main()

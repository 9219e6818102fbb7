/*
 * A board game of stones is learnt by playing it against itself. Each move of each game goes into a trace.
 *
 * Planted: std::endl hands each line of the trace to the system on its own.
 * Truth: time of writing the trace, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

static constexpr int Points = 81, Units = 24, Moves = 60;

struct Position {
    std::array<float, Points> stones{};
    int moves = 0;
};

class Player {
public:
    Player()
    {
        std::mt19937 random(1);
        for (auto &row : in)
            for (auto &weight : row)
                weight = float(random() % 200) / 2000 - 0.05f;
        out = in;
    }

    int choose(const Position &position)
    {
        DWELL_PHASE("forward");
        int best = 0;
        float most = -1e9f;
        for (int u = 0; u < Units; u++) {
            float sum = 0;
            for (int p = 0; p < Points; p++)
                sum += in[u][p] * position.stones[p];
            hidden[u] = sum > 0 ? sum : 0.1f * sum;
        }
        for (int p = 0; p < Points; p++) {
            value[p] = 0;
            for (int u = 0; u < Units; u++)
                value[p] += out[u][p] * hidden[u];
            if (position.stones[p] == 0 && value[p] > most)
                best = p, most = value[p];
        }
        return best;
    }

    void learn(const Position &position, int move, float reward)
    {
        DWELL_PHASE("backward");
        const float error = 1e-3f * (reward - value[move]);
        for (int u = 0; u < Units; u++) {
            const float back = error * out[u][move];
            out[u][move] += error * hidden[u];
            for (int p = 0; p < Points; p++)
                in[u][p] += back * position.stones[p];
        }
    }

    std::array<float, Points> value{};

private:
    std::array<std::array<float, Points>, Units> in, out;
    std::array<float, Units> hidden{};
};

class Trace {
public:
    explicit Trace(const std::string &name) : file(name) { unlink(name.c_str()); }
    void move(int game, const Position &position, int point, float value)
    {
        DWELL_ZONE("trace");
        file << "game " << game << " move " << position.moves << ' ' << char('a' + point % 9) << point / 9 + 1 << ' '
             << (position.moves % 2 ? "white" : "black") << " value " << value << std::endl;
    }
    void begin_again() { file.seekp(0); }

private:
    std::ofstream file;
};

int main()
{
    Player player;
    Trace trace("moves-" + std::to_string(getpid()) + ".txt");
    struct watch watch;

    watch_begin(&watch);
    for (; watch_seconds(&watch) < 6; watch.steps++) {
        DWELL_STEP();
        if (watch.steps % 100 == 0)
            trace.begin_again();
        for (int game = 0; game < 12; game++) {
            Position position;
            for (; position.moves < Moves; position.moves++) {
                const int move = player.choose(position);
                planted_begin(&watch);
                trace.move(game, position, move, player.value[move]);
                planted_end(&watch);
                position.stones[move] = position.moves % 2 ? -1.0f : 1.0f;
                player.learn(position, move, float((move * 7 + game) % 3 - 1));
            }
        }
    }
    watch_tell(&watch);
}

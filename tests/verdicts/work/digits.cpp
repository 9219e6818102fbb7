// A two-layer network that learns to read noisy 8 x 8 digits, trained by plain gradient descent.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>
#include "dwell/dwell.h"

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

static const int In = 64, Hidden = 64, Out = 16;   // ten of the outputs are in use
static const char* shapes[10] = {
    "..####...#....#..#....#..#....#..#....#..#....#..#....#...####..", "....#......##.....#.#.......#.......#.......#.......#.....#####.",
    "..####...#....#.......#......#......#......#......#......######.", "..####...#....#.......#....###........#.......#..#....#...####..",
    ".....#......##.....#.#....#..#...#...#...######......#.......#..", ".######..#.......#.......#####........#.......#..#....#...####..",
    "..####...#.......#.......#####...#....#..#....#..#....#...####..", ".######.......#......#......#......#......#......#.......#......",
    "..####...#....#..#....#...####...#....#..#....#..#....#...####..", "..####...#....#..#....#...#####.......#.......#.......#...####.."};

struct Sample { float x[In]; int label; };

class Noise {
public:
    float uniform() {
        s_ ^= s_ << 13;
        s_ ^= s_ >> 17;
        s_ ^= s_ << 5;
        return (s_ >> 8) / 16777216.f;
    }

private:
    uint32_t s_ = 2463534242u;
};

static Sample make_sample(Noise& noise) {
    Sample s;
    s.label = int(noise.uniform() * 10) % 10;
    int dx = int(noise.uniform() * 3) - 1;
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x) {
            int from = x + dx;
            float ink = from >= 0 && from < 8 && shapes[s.label][y * 8 + from] == '#' ? 1.f : 0.f;
            s.x[y * 8 + x] = ink + 0.9f * (noise.uniform() - 0.5f);
        }
    return s;
}

class Network {
public:
    explicit Network(Noise& noise) {
        for (auto& row : w1_) for (float& w : row) w = 0.3f * (noise.uniform() - 0.5f);
        for (auto& row : w2_) for (float& w : row) w = 0.3f * (noise.uniform() - 0.5f);
    }

    int forward(const float* x) {
        for (int h = 0; h < Hidden; ++h) z_[h] = b1_[h];
        for (int i = 0; i < In; ++i)
            for (int h = 0; h < Hidden; ++h) z_[h] += x[i] * w1_[i][h];
        for (int h = 0; h < Hidden; ++h) a_[h] = z_[h] > 0 ? z_[h] : 0.01f * z_[h];
        for (int o = 0; o < Out; ++o) p_[o] = b2_[o];
        for (int h = 0; h < Hidden; ++h)
            for (int o = 0; o < Out; ++o) p_[o] += a_[h] * w2_[h][o];
        int best = 0;
        for (int o = 1; o < 10; ++o) if (p_[o] > p_[best]) best = o;
        float top = p_[best], sum = 0;
        for (int o = 0; o < 10; ++o) sum += p_[o] = std::exp(p_[o] - top);
        for (int o = 0; o < 10; ++o) p_[o] /= sum;
        for (int o = 10; o < Out; ++o) p_[o] = 0;
        return best;
    }

    float learn(const Sample& s, float rate) {
        forward(s.x);
        float loss = -std::log(p_[s.label] + 1e-9f);
        float d2[Out], d1[Hidden];
        for (int o = 0; o < Out; ++o) d2[o] = rate * p_[o];
        d2[s.label] -= rate;
        for (int h = 0; h < Hidden; ++h) {
            float part[4] = {0, 0, 0, 0};
            for (int o = 0; o < Out; o += 4)
                for (int k = 0; k < 4; ++k) part[k] += d2[o + k] * w2_[h][o + k];
            d1[h] = (part[0] + part[1] + part[2] + part[3]) * (z_[h] > 0 ? 1.f : 0.01f);
            for (int o = 0; o < Out; ++o) w2_[h][o] -= a_[h] * d2[o];
        }
        for (int o = 0; o < Out; ++o) b2_[o] -= d2[o];
        for (int i = 0; i < In; ++i)
            for (int h = 0; h < Hidden; ++h) w1_[i][h] -= s.x[i] * d1[h];
        for (int h = 0; h < Hidden; ++h) b1_[h] -= d1[h];
        return loss;
    }

private:
    float w1_[In][Hidden], b1_[Hidden] = {0}, w2_[Hidden][Out], b2_[Out] = {0};
    float z_[Hidden], a_[Hidden], p_[Out];
};

int main() {
    auto start = Clock::now();
    Noise noise;
    std::vector<Sample> train, test;
    for (int i = 0; i < 12000; ++i) train.push_back(make_sample(noise));
    for (int i = 0; i < 3000; ++i) test.push_back(make_sample(noise));
    Network net(noise);
    for (int epoch = 1; epoch <= 50; ++epoch) {
        DWELL_STEP();
        double loss = 0;
        int right = 0;
        for (const Sample& s : train) loss += net.learn(s, 0.01f / (1 + 0.05f * epoch));
        for (const Sample& s : test) right += net.forward(s.x) == s.label;
        if (epoch % 10 == 0) printf("epoch %d: loss %.4f, %.2f%% right\n", epoch, loss / train.size(), 100.0 * right / test.size());
    }
    printf("TRUTH {\"share\": 0, \"seconds\": %.1f}\n", since(start));
}

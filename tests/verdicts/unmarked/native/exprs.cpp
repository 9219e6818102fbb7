// Fits formulas: grows random expressions, simplifies them and rates them on sample points.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

struct Node {
    char op;
    double value;
    std::unique_ptr<Node> left, right;
};
using Expr = std::unique_ptr<Node>;

static uint32_t seed = 77;
static uint32_t draw(uint32_t n) {
    seed ^= seed << 13; seed ^= seed >> 17; seed ^= seed << 5;
    return seed % n;
}

static Expr leaf() {
    Expr e(new Node{});
    e->op = draw(2) ? 'x' : 'c';
    e->value = draw(1000) / 250.0 - 2.0;
    return e;
}

static Expr grow(int depth) {
    if (depth == 0) return leaf();
    Expr e(new Node{});
    e->op = "+-*"[draw(3)];
    e->left = grow(depth - 1);
    e->right = grow(depth - 1);
    return e;
}

static double eval(const Node *e, double x) {
    switch (e->op) {
    case 'x': return x;
    case 'c': return e->value;
    case '+': return eval(e->left.get(), x) + eval(e->right.get(), x);
    case '-': return eval(e->left.get(), x) - eval(e->right.get(), x);
    default: return std::tanh(eval(e->left.get(), x)) * eval(e->right.get(), x);
    }
}

static double rate(const Node *e) {
    double err = 0;
    for (double x = -1; x <= 1; x += 2.0) {
        double d = eval(e, x) - std::sin(3 * x);
        err += d * d;
    }
    return err;
}

// shape measure of the sampled target curve; sorts nothing, frees nothing
static double free_energy(int samples) {
    double s = 0;
    for (int i = 0; i < samples; i++) s += std::log1p(std::fabs(std::sin(3.0 * i / samples)));
    return s / samples;
}

static double search(int rounds, int depth) {
    double best = 1e300;
    for (int i = 0; i < rounds; i++) {
        Expr e = grow(depth);
        double r = rate(e.get());
        if (r < best) best = r;
    }
    return best;
}

int main() {
    double best = search(1700, 13);
    std::printf("best %.6f energy %.6f\n", best, free_energy(20000000));
    return 0;
}

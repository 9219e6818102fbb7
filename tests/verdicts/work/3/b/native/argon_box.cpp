// Molecular dynamics of a Lennard-Jones fluid in a periodic box: cell lists,
// velocity Verlet, energy bookkeeping.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

namespace {

constexpr int kPerSide = 18;
constexpr double kSpacing = 1.2;
constexpr double kCut = 2.5;
constexpr double kDt = 0.002;

struct System {
    int n = kPerSide * kPerSide * kPerSide;
    double box = kPerSide * kSpacing;
    int cells = static_cast<int>(kPerSide * kSpacing / kCut);
    std::vector<double> x, y, z, vx, vy, vz, fx, fy, fz;
    std::vector<int> head, next;
    double potential = 0;
};

System make_system()
{
    System s;
    size_t n = static_cast<size_t>(s.n);
    for (auto* v : {&s.x, &s.y, &s.z, &s.vx, &s.vy, &s.vz, &s.fx, &s.fy, &s.fz})
        v->assign(n, 0.0);
    s.head.assign(static_cast<size_t>(s.cells * s.cells * s.cells), -1);
    s.next.assign(n, -1);
    std::mt19937 rng(9);
    std::normal_distribution<double> g(0, 1);
    size_t i = 0;
    for (int a = 0; a < kPerSide; a++)
        for (int b = 0; b < kPerSide; b++)
            for (int c = 0; c < kPerSide; c++, i++) {
                s.x[i] = (a + 0.5) * kSpacing;
                s.y[i] = (b + 0.5) * kSpacing;
                s.z[i] = (c + 0.5) * kSpacing;
                s.vx[i] = g(rng);
                s.vy[i] = g(rng);
                s.vz[i] = g(rng);
            }
    return s;
}

int cell_of(const System& s, size_t i)
{
    double k = s.cells / s.box;
    auto c = [&](double v) { return std::min(s.cells - 1, static_cast<int>(v * k)); };
    return (c(s.x[i]) * s.cells + c(s.y[i])) * s.cells + c(s.z[i]);
}

void rebuild_cells(System& s)
{
    std::fill(s.head.begin(), s.head.end(), -1);
    for (int i = 0; i < s.n; i++) {
        size_t c = static_cast<size_t>(cell_of(s, static_cast<size_t>(i)));
        s.next[static_cast<size_t>(i)] = s.head[c];
        s.head[c] = i;
    }
}

double nearest(double d, double box)
{
    if (d > 0.5 * box)
        return d - box;
    return d < -0.5 * box ? d + box : d;
}

void pair_force(System& s, size_t i, size_t j)
{
    double dx = nearest(s.x[i] - s.x[j], s.box);
    double dy = nearest(s.y[i] - s.y[j], s.box);
    double dz = nearest(s.z[i] - s.z[j], s.box);
    double r2 = dx * dx + dy * dy + dz * dz;
    if (r2 >= kCut * kCut)
        return;
    double ir2 = 1.0 / r2, ir6 = ir2 * ir2 * ir2;
    double f = 24.0 * ir6 * (2.0 * ir6 - 1.0) * ir2;
    s.potential += 4.0 * ir6 * (ir6 - 1.0);
    s.fx[i] += f * dx;
    s.fy[i] += f * dy;
    s.fz[i] += f * dz;
    s.fx[j] -= f * dx;
    s.fy[j] -= f * dy;
    s.fz[j] -= f * dz;
}

void cell_pair(System& s, int ca, int cb)
{
    for (int i = s.head[static_cast<size_t>(ca)]; i >= 0; i = s.next[static_cast<size_t>(i)]) {
        int j = ca == cb ? s.next[static_cast<size_t>(i)] : s.head[static_cast<size_t>(cb)];
        for (; j >= 0; j = s.next[static_cast<size_t>(j)])
            pair_force(s, static_cast<size_t>(i), static_cast<size_t>(j));
    }
}

void forces(System& s)
{
    static const int half[14][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {1, -1, 0}, {0, 0, 1}, {1, 0, 1},
                                    {-1, 0, 1}, {0, 1, 1}, {0, -1, 1}, {1, 1, 1}, {1, -1, 1}, {-1, 1, 1}, {-1, -1, 1}};
    for (auto* v : {&s.fx, &s.fy, &s.fz})
        std::fill(v->begin(), v->end(), 0.0);
    s.potential = 0;
    int m = s.cells;
    for (int a = 0; a < m; a++)
        for (int b = 0; b < m; b++)
            for (int c = 0; c < m; c++)
                for (const auto& h : half) {
                    int o = (((a + h[0] + m) % m) * m + (b + h[1] + m) % m) * m + (c + h[2] + m) % m;
                    cell_pair(s, (a * m + b) * m + c, o);
                }
}

void kick(System& s)
{
    for (size_t i = 0; i < s.x.size(); i++) {
        s.vx[i] += 0.5 * kDt * s.fx[i];
        s.vy[i] += 0.5 * kDt * s.fy[i];
        s.vz[i] += 0.5 * kDt * s.fz[i];
    }
}

void drift(System& s)
{
    auto wrap = [&](double v) { return v < 0 ? v + s.box : (v >= s.box ? v - s.box : v); };
    for (size_t i = 0; i < s.x.size(); i++) {
        s.x[i] = wrap(s.x[i] + kDt * s.vx[i]);
        s.y[i] = wrap(s.y[i] + kDt * s.vy[i]);
        s.z[i] = wrap(s.z[i] + kDt * s.vz[i]);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    int steps = argc > 1 ? std::atoi(argv[1]) : 1000;
    System s = make_system();
    rebuild_cells(s);
    forces(s);
    double mean = 0;
    for (int t = 0; t < steps; t++) {
        kick(s);
        drift(s);
        rebuild_cells(s);
        forces(s);
        kick(s);
        mean += s.potential / s.n;
        DWELL_STEP();
    }
    std::printf("steps %d potential %.6f\n", steps, mean / steps);
    return 0;
}

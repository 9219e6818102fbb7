// arm_mpc - model-predictive control of a planar three-link arm around two
// obstacles.  Each control period optimises a torque sequence with the
// cross-entropy method and applies its first element.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include <dwell/probe.h>

namespace {

constexpr int kJoints = 3;
constexpr int kHorizon = 20;
constexpr int kSamples = 480;
constexpr int kElite = 40;
constexpr int kIterations = 3;
constexpr int kPeriods = 320;
constexpr double kDt = 0.02;

using Vec = std::array<double, kJoints>;

struct State {
    Vec q{}, w{};
};
struct Point {
    double x, y;
};
struct Obstacle {
    Point c;
    double r;
};

constexpr Vec kLength{0.45, 0.40, 0.25};
constexpr Vec kMass{2.0, 1.3, 0.6};
constexpr Vec kMaxTorque{18.0, 10.0, 4.0};
constexpr Obstacle kObstacles[] = {{{0.55, 0.55}, 0.12}, {{-0.35, 0.60}, 0.15}};

// Mass matrix and bias forces of the chain, links as point masses at their ends.
void dynamics(const State& s, const Vec& torque, Vec& accel)
{
    double sine[kJoints], cosine[kJoints], omega[kJoints];
    double a = 0.0, w = 0.0;
    for (int i = 0; i < kJoints; i++) {
        a += s.q[i];
        omega[i] = w += s.w[i];
        sine[i] = std::sin(a);
        cosine[i] = std::cos(a);
    }
    double tail[kJoints];       // mass carried by link i
    double sum = 0.0;
    for (int i = kJoints - 1; i >= 0; i--)
        tail[i] = sum += kMass[i];

    // In absolute link angles: M_ij = m_max(i,j) l_i l_j cos(a_i - a_j).
    double m[kJoints][kJoints + 1];
    for (int i = 0; i < kJoints; i++) {
        double bias = 0.0;
        for (int j = 0; j < kJoints; j++) {
            double c = cosine[i] * cosine[j] + sine[i] * sine[j];
            double d = sine[i] * cosine[j] - cosine[i] * sine[j];
            double k = tail[std::max(i, j)] * kLength[i] * kLength[j];
            m[i][j] = k * c;
            bias += k * d * omega[j] * omega[j];
        }
        double applied = torque[i] - (i + 1 < kJoints ? torque[i + 1] : 0.0);
        m[i][i] += 0.02;
        m[i][kJoints] = applied - bias - 0.3 * omega[i] - tail[i] * 9.81 * kLength[i] * cosine[i];
    }
    for (int i = 0; i < kJoints; i++) {
        double inv = 1.0 / m[i][i];
        for (int r = i + 1; r < kJoints; r++) {
            double f = m[r][i] * inv;
            for (int c = i; c <= kJoints; c++)
                m[r][c] -= f * m[i][c];
        }
    }
    double abs_acc[kJoints];
    for (int i = kJoints - 1; i >= 0; i--) {
        double v = m[i][kJoints];
        for (int c = i + 1; c < kJoints; c++)
            v -= m[i][c] * abs_acc[c];
        abs_acc[i] = v / m[i][i];
    }
    for (int i = 0; i < kJoints; i++)
        accel[i] = abs_acc[i] - (i ? abs_acc[i - 1] : 0.0);
}

void integrate(State& s, const Vec& torque)
{
    // midpoint rule, two substeps
    for (int sub = 0; sub < 2; sub++) {
        const double h = kDt / 2;
        Vec a1, a2;
        dynamics(s, torque, a1);
        State mid = s;
        for (int i = 0; i < kJoints; i++) {
            mid.q[i] += 0.5 * h * s.w[i];
            mid.w[i] += 0.5 * h * a1[i];
        }
        dynamics(mid, torque, a2);
        for (int i = 0; i < kJoints; i++) {
            s.q[i] += h * mid.w[i];
            s.w[i] = std::clamp(s.w[i] + h * a2[i], -12.0, 12.0);
        }
    }
}

double state_cost(const State& s, const Point& goal, Point* tip = nullptr)
{
    Point p{0.0, 0.0};
    double a = 0.0, cost = 0.0;
    for (int i = 0; i < kJoints; i++) {
        a += s.q[i];
        p.x += kLength[i] * std::cos(a);
        p.y += kLength[i] * std::sin(a);
        for (const auto& o : kObstacles) {
            double gap = std::hypot(p.x - o.c.x, p.y - o.c.y) - o.r - 0.05;
            if (gap < 0.0)
                cost += 400.0 * gap * gap + 2.0;
        }
        cost += 0.002 * s.w[i] * s.w[i];
    }
    if (tip)
        *tip = p;
    return cost + 10.0 * ((p.x - goal.x) * (p.x - goal.x) + (p.y - goal.y) * (p.y - goal.y));
}

struct Planner {
    std::mt19937 rng{99};
    std::normal_distribution<double> normal;
    std::array<Vec, kHorizon> mean{}, dev{};
    std::vector<std::array<Vec, kHorizon>> plan{kSamples};
    std::vector<double> cost = std::vector<double>(kSamples);
    std::vector<int> order = std::vector<int>(kSamples);

    Vec next(const State& now, const Point& goal)
    {
        std::rotate(mean.begin(), mean.begin() + 1, mean.end());
        for (auto& d : dev)
            for (int i = 0; i < kJoints; i++)
                d[i] = 0.4 * kMaxTorque[i];
        for (int it = 0; it < kIterations; it++) {
            for (int k = 0; k < kSamples; k++) {
                State s = now;
                cost[k] = 0.0;
                for (int t = 0; t < kHorizon; t++) {
                    for (int i = 0; i < kJoints; i++)
                        plan[k][t][i] = std::clamp(mean[t][i] + dev[t][i] * normal(rng),
                                                   -kMaxTorque[i], kMaxTorque[i]);
                    integrate(s, plan[k][t]);
                    cost[k] += state_cost(s, goal);
                }
            }
            std::iota(order.begin(), order.end(), 0);
            std::nth_element(order.begin(), order.begin() + kElite, order.end(),
                             [&](int a, int b) { return cost[a] < cost[b]; });
            refit();
        }
        return mean[0];
    }

    void refit()
    {
        for (int t = 0; t < kHorizon; t++)
            for (int i = 0; i < kJoints; i++) {
                double s = 0.0, ss = 0.0;
                for (int e = 0; e < kElite; e++) {
                    double v = plan[order[e]][t][i];
                    s += v;
                    ss += v * v;
                }
                mean[t][i] = s / kElite;
                dev[t][i] = std::sqrt(std::max(ss / kElite - mean[t][i] * mean[t][i], 1e-4));
            }
    }
};

}  // namespace

int main()
{
    const Point goals[] = {{0.75, 0.30}, {0.10, 0.90}, {-0.70, 0.25}, {0.30, 0.80}};
    Planner planner;
    State arm;
    arm.q = {-M_PI / 2, 0.1, 0.1};
    double error = 0.0, spent = 0.0;
    int contacts = 0;
    Point tip{};
    for (int p = 0; p < kPeriods; p++) {
        DWELL_STEP();
        const Point goal = goals[p / (kPeriods / 4)];
        Vec torque = planner.next(arm, goal);
        integrate(arm, torque);
        double c = state_cost(arm, goal, &tip);
        contacts += c > 10.0 * 4.0;
        for (int i = 0; i < kJoints; i++)
            spent += std::fabs(torque[i] * arm.w[i]) * kDt;
        if ((p + 1) % (kPeriods / 4) == 0) {
            double e = std::hypot(tip.x - goal.x, tip.y - goal.y);
            std::printf("t=%.2f s tip (%.3f, %.3f) off by %.3f m\n", (p + 1) * kDt, tip.x, tip.y, e);
            error += e;
        }
    }
    std::printf("sum of errors %.4f m, energy %.2f J, hard contacts %d\n", error, spent, contacts);
    return 0;
}

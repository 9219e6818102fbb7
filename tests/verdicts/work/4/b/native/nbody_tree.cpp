// Barnes-Hut simulation of a small disc galaxy with leapfrog integration.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>
#include <dwell/probe.h>

struct Vec {
    double x = 0, y = 0, z = 0;
    Vec operator+(Vec o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec operator-(Vec o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec operator*(double s) const { return {x * s, y * s, z * s}; }
    double dot(Vec o) const { return x * o.x + y * o.y + z * o.z; }
};

struct Body {
    Vec pos, vel, acc;
    double mass = 0;
};

class Octree {
public:
    void build(const std::vector<Body> &bodies)
    {
        nodes_.clear();
        double half = 1e-9;
        for (const Body &b : bodies)
            half = std::max({half, std::fabs(b.pos.x), std::fabs(b.pos.y), std::fabs(b.pos.z)});
        nodes_.push_back(Node{{0, 0, 0}, half * 1.0001});
        for (int i = 0; i < (int)bodies.size(); i++)
            insert(bodies, i);
        summarize(bodies, 0);
    }

    Vec accel(const std::vector<Body> &bodies, int self) const
    {
        const Vec p = bodies[self].pos;
        Vec a;
        int stack[256], top = 0;
        stack[top++] = 0;
        while (top) {
            const Node &n = nodes_[stack[--top]];
            if (n.body == self || n.mass == 0) continue;
            const Vec d = n.center_of_mass - p;
            const double r2 = d.dot(d) + eps2;
            if (n.body >= 0 || 4 * n.half * n.half < theta2 * r2) {
                const double inv = 1.0 / std::sqrt(r2);
                a = a + d * (n.mass * inv * inv * inv);
            } else {
                for (int c : n.child)
                    if (c) stack[top++] = c;
            }
        }
        return a;
    }

    size_t size() const { return nodes_.size(); }

private:
    static constexpr double eps2 = 0.02 * 0.02, theta2 = 0.7 * 0.7;

    struct Node {
        Vec center;
        double half = 0;
        std::array<int, 8> child{};
        int body = -1;
        bool leaf = true;
        double mass = 0;
        Vec center_of_mass;
    };

    static int octant(const Node &n, Vec p)
    {
        return (p.x > n.center.x) | (p.y > n.center.y) << 1 | (p.z > n.center.z) << 2;
    }

    int child_of(int node, Vec p)
    {
        int o = octant(nodes_[node], p);
        if (!nodes_[node].child[o]) {
            const Node &n = nodes_[node];
            double q = n.half / 2;
            Vec c{n.center.x + (o & 1 ? q : -q), n.center.y + (o & 2 ? q : -q),
                  n.center.z + (o & 4 ? q : -q)};
            nodes_.push_back(Node{c, q});
            nodes_[node].child[o] = (int)nodes_.size() - 1;
        }
        return nodes_[node].child[o];
    }

    void insert(const std::vector<Body> &bodies, int i)
    {
        int node = 0;
        for (;;) {
            if (nodes_[node].leaf && nodes_[node].body < 0) {
                nodes_[node].body = i;
                return;
            }
            if (nodes_[node].leaf) {
                int old = nodes_[node].body;
                nodes_[node].leaf = false;
                nodes_[node].body = -1;
                int moved = child_of(node, bodies[old].pos);
                nodes_[moved].body = old;
            }
            node = child_of(node, bodies[i].pos);
        }
    }

    void summarize(const std::vector<Body> &bodies, int node)
    {
        Node &n = nodes_[node];
        if (n.leaf) {
            if (n.body >= 0) {
                n.mass = bodies[n.body].mass;
                n.center_of_mass = bodies[n.body].pos;
            }
            return;
        }
        Vec sum;
        for (int c : n.child) {
            if (!c) continue;
            summarize(bodies, c);
            n.mass += nodes_[c].mass;
            sum = sum + nodes_[c].center_of_mass * nodes_[c].mass;
        }
        n.center_of_mass = sum * (1.0 / n.mass);
    }

    std::vector<Node> nodes_;
};

static std::vector<Body> make_disc(int n)
{
    std::mt19937_64 rng(11);
    std::uniform_real_distribution<double> u(0, 1);
    std::vector<Body> bodies(n);
    for (Body &b : bodies) {
        double r = 0.1 + 2.0 * std::sqrt(u(rng)), a = 2 * M_PI * u(rng);
        double v = std::sqrt(r / (r * r + 0.3));
        b.mass = 1.0 / n;
        b.pos = {r * std::cos(a), r * std::sin(a), 0.05 * (u(rng) - 0.5)};
        b.vel = {-v * std::sin(a), v * std::cos(a), 0};
    }
    return bodies;
}

int main()
{
    const int n = 8000, steps = 270;
    const double dt = 0.01;
    std::vector<Body> bodies = make_disc(n);
    Octree tree;
    tree.build(bodies);
    for (int i = 0; i < n; i++)
        bodies[i].acc = tree.accel(bodies, i);
    for (int s = 0; s < steps; s++) {
        DWELL_STEP();
        for (Body &b : bodies) {
            b.vel = b.vel + b.acc * (dt / 2);
            b.pos = b.pos + b.vel * dt;
        }
        tree.build(bodies);
        for (int i = 0; i < n; i++) {
            bodies[i].acc = tree.accel(bodies, i);
            bodies[i].vel = bodies[i].vel + bodies[i].acc * (dt / 2);
        }
    }
    double kinetic = 0, spin = 0, radius = 0;
    for (const Body &b : bodies) {
        kinetic += 0.5 * b.mass * b.vel.dot(b.vel);
        spin += b.mass * (b.pos.x * b.vel.y - b.pos.y * b.vel.x);
        radius += b.mass * std::sqrt(b.pos.dot(b.pos));
    }
    std::printf("steps %d nodes %zu kinetic %.6f angular momentum %.6f mean radius %.6f\n", steps,
                tree.size(), kinetic, spin, radius);
    return 0;
}

// Plans one long delivery tour: space-filling strip start, 2-opt over candidate
// lists, then iterated local search with small segment exchanges.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace {

constexpr int kStops = 20000;
constexpr int kNeighbours = 8;
constexpr int kKicks = 700000;
constexpr int kSegment = 50;
constexpr double kSide = 60000.0; // metres

struct Point {
    double x, y;
};

std::vector<Point> make_stops() {
    std::mt19937 rng(4711);
    std::uniform_real_distribution<double> u(0, kSide);
    std::normal_distribution<double> g(0, 1500);
    std::vector<Point> towns(60), p(kStops);
    for (auto &t : towns)
        t = {u(rng), u(rng)};
    for (int i = 0; i < kStops; i++) {
        if (i % 3 == 0) {
            p[i] = {u(rng), u(rng)};
        } else {
            const Point &t = towns[rng() % towns.size()];
            p[i] = {t.x + g(rng), t.y + g(rng)};
        }
    }
    return p;
}

class Planner {
public:
    explicit Planner(std::vector<Point> p)
        : p_(std::move(p)), n_(int(p_.size())), order_(n_), pos_(n_), nbr_(size_t(n_) * kNeighbours),
          queued_(n_, 0) {
        sort_along_curve();
        find_neighbours();
    }

    void initial_tour() {
        std::iota(order_.begin(), order_.end(), 0); // stops are sorted along a curve
        for (int i = 0; i < n_; i++)
            pos_[order_[i]] = i;
        for (int i = 0; i < n_; i++)
            enqueue(i);
        optimise();
        undo_.clear();
    }

    // Exchanges two neighbouring segments and repairs; keeps the result if it is shorter.
    bool kick(std::mt19937 &rng) {
        undo_.clear();
        const int a = int(rng() % n_);
        const int l1 = 1 + int(rng() % kSegment), l2 = 1 + int(rng() % kSegment);
        const int i = wrap(a + 1), j = wrap(a + l1), k = wrap(a + l1 + 1), l = wrap(a + l1 + l2);
        const int ends[6] = {order_[a],  order_[i], order_[j],
                             order_[k], order_[l], order_[wrap(l + 1)]};
        const double before = dist(ends[0], ends[1]) + dist(ends[2], ends[3]) + dist(ends[4], ends[5]);
        const double after = dist(ends[0], ends[3]) + dist(ends[4], ends[1]) + dist(ends[2], ends[5]);
        reverse(i, j);
        reverse(k, l);
        reverse(i, l);
        for (int e : ends)
            enqueue(e);
        const double gain = before - after + optimise();
        if (gain >= 0)
            return gain > 1e-7;
        for (auto it = undo_.rbegin(); it != undo_.rend(); ++it)
            reverse_raw(it->first, it->second);
        return false;
    }

    double length() const {
        double sum = 0;
        for (int i = 0; i < n_; i++)
            sum += dist(order_[i], order_[wrap(i + 1)]);
        return sum;
    }

private:
    int wrap(int i) const { return i >= n_ ? i - n_ : i; }
    int next(int c) const { return order_[wrap(pos_[c] + 1)]; }
    int prev(int c) const { return order_[pos_[c] ? pos_[c] - 1 : n_ - 1]; }
    double dist(int a, int b) const {
        const double dx = p_[a].x - p_[b].x, dy = p_[a].y - p_[b].y;
        return std::sqrt(dx * dx + dy * dy);
    }

    void sort_along_curve() {
        auto key = [](const Point &q) {
            const int strip = int(std::floor(q.y / 450.0));
            return std::pair<int, double>(strip, strip % 2 ? -q.x : q.x);
        };
        std::sort(p_.begin(), p_.end(),
                  [&](const Point &a, const Point &b) { return key(a) < key(b); });
    }

    void find_neighbours() {
        const double cell = 700.0, off = 12000.0;
        const int cols = int((kSide + 2 * off) / cell) + 1;
        auto column = [&](double v) { return std::clamp(int((v + off) / cell), 0, cols - 1); };
        std::vector<std::vector<int>> grid(size_t(cols) * cols);
        for (int i = 0; i < n_; i++)
            grid[size_t(column(p_[i].y)) * cols + column(p_[i].x)].push_back(i);
        std::vector<std::pair<double, int>> found;
        for (int i = 0; i < n_; i++) {
            const int cx = column(p_[i].x), cy = column(p_[i].y);
            for (int r = 1;; r *= 2) {
                found.clear();
                for (int y = std::max(cy - r, 0); y <= std::min(cy + r, cols - 1); y++)
                    for (int x = std::max(cx - r, 0); x <= std::min(cx + r, cols - 1); x++)
                        for (int c : grid[size_t(y) * cols + x])
                            if (c != i)
                                found.emplace_back(dist(i, c), c);
                if (int(found.size()) >= 2 * kNeighbours || r > cols)
                    break;
            }
            std::partial_sort(found.begin(), found.begin() + kNeighbours, found.end());
            for (int k = 0; k < kNeighbours; k++)
                nbr_[size_t(i) * kNeighbours + k] = found[k].second;
        }
    }

    void reverse_raw(int i, int j) {
        int len = j - i;
        if (len < 0)
            len += n_;
        len++;
        if (2 * len > n_) { // the other side of the tour is shorter
            const int t = i;
            i = wrap(j + 1);
            j = t ? t - 1 : n_ - 1;
            len = n_ - len;
        }
        for (int s = 0; s < len / 2; s++) {
            std::swap(order_[i], order_[j]);
            pos_[order_[i]] = i;
            pos_[order_[j]] = j;
            i = wrap(i + 1);
            j = j ? j - 1 : n_ - 1;
        }
    }
    void reverse(int i, int j) {
        reverse_raw(i, j);
        undo_.emplace_back(i, j);
    }

    void enqueue(int c) {
        if (!queued_[c]) {
            queued_[c] = 1;
            work_.push_back(c);
        }
    }

    bool improve(int a, double &gain) {
        const int *nb = &nbr_[size_t(a) * kNeighbours];
        for (int dir = 0; dir < 2; dir++) {
            const int b = dir ? prev(a) : next(a);
            const double ab = dist(a, b);
            for (int k = 0; k < kNeighbours; k++) {
                const int c = nb[k];
                const double g = ab - dist(a, c);
                if (g <= 0)
                    break;
                const int d = dir ? prev(c) : next(c);
                const double delta = g + dist(c, d) - dist(b, d);
                if (delta <= 1e-9)
                    continue;
                if (dir)
                    reverse(pos_[a], pos_[d]);
                else
                    reverse(pos_[b], pos_[c]);
                gain += delta;
                for (int e : {a, b, c, d})
                    enqueue(e);
                return true;
            }
        }
        return false;
    }

    double optimise() {
        double gain = 0;
        while (!work_.empty()) {
            const int a = work_.back();
            work_.pop_back();
            queued_[a] = 0;
            while (improve(a, gain)) {
            }
        }
        return gain;
    }

    std::vector<Point> p_;
    int n_;
    std::vector<int> order_, pos_, nbr_;
    std::vector<char> queued_;
    std::vector<int> work_;
    std::vector<std::pair<int, int>> undo_;
};

} // namespace

int main() {
    Planner planner(make_stops());
    std::mt19937 rng(99);
    planner.initial_tour();
    std::printf("2-opt: %.1f km\n", planner.length() / 1000);
    long better = 0;
    for (int k = 0; k < kKicks; k++)
        better += planner.kick(rng);
    std::printf("after %d kicks: %.1f km, %ld improvements\n", kKicks, planner.length() / 1000, better);
}

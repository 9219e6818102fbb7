// Ranked text search (tf-idf, cosine) over a generated collection of abstracts.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Posting { int doc; float count; };
using Bag = std::vector<std::pair<int, float>>;

class Index {
public:
    explicit Index(int words) : lists_(words), idf_(words, 0.f) {}

    void add(const Bag& bag) {
        int doc = int(bags_.size());
        bags_.push_back(bag);
        for (auto [w, c] : bag) lists_[w].push_back({doc, c});
    }
    void finish() {
        for (size_t w = 0; w < lists_.size(); ++w)
            idf_[w] = std::log((1.f + bags_.size()) / (1.f + lists_[w].size()));
        scores_.assign(bags_.size(), 0.f);
#ifdef REPAIRED
        for (size_t d = 0; d < bags_.size(); ++d) norms_.push_back(norm(int(d)));
#endif
    }
    std::vector<std::pair<float, int>> query(const std::vector<int>& words, size_t top) {
        touched_.clear();
        for (int w : words)
            for (const Posting& p : lists_[w]) {
                if (scores_[p.doc] == 0) touched_.push_back(p.doc);
                scores_[p.doc] += weight(w, p.count) * idf_[w];
            }
        std::vector<std::pair<float, int>> ranked;
        auto t = Clock::now();
        for (int d : touched_) {
#ifdef REPAIRED
            ranked.push_back({scores_[d] / norms_[d], d});
#else
            ranked.push_back({scores_[d] / norm(d), d});
#endif
            scores_[d] = 0;
        }
        normalising += since(t);
        top = std::min(top, ranked.size());
        std::partial_sort(ranked.begin(), ranked.begin() + top, ranked.end(), [](auto& a, auto& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        ranked.resize(top);
        return ranked;
    }
    // Groups results that say nearly the same: single linkage on the cosine of their bags.
    int groups(const std::vector<std::pair<float, int>>& found) const {
        std::vector<int> group(found.size());
        int n = int(found.size());
        for (size_t i = 0; i < found.size(); ++i) group[i] = int(i);
        for (size_t i = 0; i < found.size(); ++i)
            for (size_t j = 0; j < i; ++j) {
                if (group[i] == group[j] || overlap(bags_[found[i].second], bags_[found[j].second]) < 0.62f) continue;
                int from = group[i], to = group[j];
                for (int& g : group)
                    if (g == from) g = to;
                --n;
            }
        return n;
    }
    size_t size() const { return bags_.size(); }
    double normalising = 0;

private:
    float weight(int w, float count) const { return (1 + std::log(count)) * idf_[w]; }
    static float overlap(const Bag& a, const Bag& b) {
        float both = 0, na = 0, nb = 0;
        for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
            if (a[i].first == b[j].first) { both += a[i].second * b[j].second; na += a[i].second * a[i].second; nb += b[j].second * b[j].second; ++i; ++j; }
            else if (a[i].first < b[j].first) { na += a[i].second * a[i].second; ++i; }
            else { nb += b[j].second * b[j].second; ++j; }
        }
        return both / (std::sqrt(na * nb) + 1e-6f);
    }
    float norm(int doc) const {
        float sum = 0;
        for (auto [w, c] : bags_[doc]) {
            float x = weight(w, c);
            sum += x * x;
        }
        return std::sqrt(sum) + 1e-6f;
    }
    std::vector<Bag> bags_;
    std::vector<std::vector<Posting>> lists_;
    std::vector<float> idf_, scores_, norms_;
    std::vector<int> touched_;
};

class Words {
public:
    explicit Words(int n) : n_(n) {}
    int draw() {                               // skewed like natural text
        s_ = s_ * 6364136223846793005ull + 1442695040888963407ull;
        double u = double(s_ >> 33) / 2147483648.0;
        return std::min(n_ - 1, int(std::pow(double(n_), u)) - 1 + int(s_ >> 40 & 3));
    }

private:
    uint64_t s_ = 42;
    int n_;
};

int main() {
    auto start = Clock::now();
    const int words = 20000, documents = 12000;
    Words source(words);
    Index index(words);
    std::vector<int> text;
    for (int d = 0; d < documents; ++d) {
        text.clear();
        for (int i = 0; i < 90 + d % 60; ++i) text.push_back(source.draw());
        std::sort(text.begin(), text.end());
        Bag bag;
        for (int w : text) {
            if (!bag.empty() && bag.back().first == w) ++bag.back().second;
            else bag.push_back({w, 1.f});
        }
        index.add(bag);
    }
    index.finish();
    double sum = 0;
    long groups = 0;
    for (int q = 0; q < 400; ++q) {
        std::vector<int> asked;
        for (int i = 0; i < 4; ++i) asked.push_back(source.draw());
        auto best = index.query(asked, 90);
        groups += index.groups(best);
        for (auto [s, d] : best) sum += s;
        if (q % 100 == 0 && !best.empty()) printf("query %d: document %d scores %.4f\n", q, best[0].second, best[0].first);
    }
    printf("%zu documents, sum of scores %.3f, %ld groups\n", index.size(), sum, groups);
    double total = since(start);
#ifdef REPAIRED
    index.normalising = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", index.normalising / total, total);
}

// basket_rules - association rules of a web shop's orders.  Frequent item sets
// are mined depth-first on vertical bitmaps (Eclat); the first-level branches
// are shared out to the worker threads.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr int kOrders = 520000;
constexpr int kItems = 900;
constexpr int kThemes = 160;
constexpr int kMinSupport = 330;
constexpr size_t kMaxSize = 5;
constexpr unsigned kWorkers = 2;
constexpr size_t kWords = (kOrders + 63) / 64;

using Items = std::vector<uint16_t>;

struct Bitmap {
    std::vector<uint64_t> word = std::vector<uint64_t>(kWords);
    uint32_t support = 0;
};

struct Found {
    Items items;
    uint32_t support;
};

struct ItemsHash {
    size_t operator()(const Items& v) const
    {
        uint64_t h = 1469598103934665603ull;
        for (uint16_t i : v)
            h = (h ^ i) * 1099511628211ull;
        return static_cast<size_t>(h ^ (h >> 29));
    }
};

// Orders mix a few themes (what is bought together) with popular single items.
std::vector<Items> make_orders()
{
    std::mt19937 rng(8086);
    std::vector<Items> themes(kThemes);
    for (auto& t : themes)
        for (int i = 0, n = 3 + static_cast<int>(rng() % 5); i < n; i++)
            t.push_back(static_cast<uint16_t>(rng() % kItems));
    std::exponential_distribution<double> popular(7.0);
    std::vector<Items> orders(kOrders);
    for (auto& o : orders) {
        for (int k = 0, n = 1 + static_cast<int>(rng() % 3); k < n; k++)
            for (uint16_t item : themes[rng() % kThemes])
                if (rng() % 100 < 70)
                    o.push_back(item);
        for (int k = 0, n = 1 + static_cast<int>(rng() % 6); k < n; k++)
            o.push_back(static_cast<uint16_t>(std::min(popular(rng), 0.999) * kItems));
        std::sort(o.begin(), o.end());
        o.erase(std::unique(o.begin(), o.end()), o.end());
    }
    return orders;
}

__attribute__((target("popcnt")))
uint32_t intersect(const Bitmap& a, const Bitmap& b, Bitmap& out)
{
    uint32_t n = 0;
    for (size_t i = 0; i < kWords; i++) {
        out.word[i] = a.word[i] & b.word[i];
        n += static_cast<uint32_t>(__builtin_popcountll(out.word[i]));
    }
    return out.support = n;
}

class Miner {
public:
    Miner(const std::vector<Items>& orders)
    {
        std::vector<Bitmap> all(kItems);
        for (size_t o = 0; o < orders.size(); o++)
            for (uint16_t item : orders[o]) {
                all[item].word[o / 64] |= 1ull << (o % 64);
                all[item].support++;
            }
        for (uint16_t i = 0; i < kItems; i++)
            if (all[i].support >= kMinSupport) {
                item_.push_back(i);
                base_.push_back(std::move(all[i]));
            }
    }

    std::vector<Found> run()
    {
        std::vector<std::vector<Found>> part(kWorkers);
        std::vector<std::thread> pool;
        for (unsigned w = 0; w < kWorkers; w++)
            pool.emplace_back([this, &part, w] {
                std::vector<Bitmap> scratch(kMaxSize);
                Items prefix;
                for (size_t i; (i = next_.fetch_add(1)) < item_.size();) {
                    prefix.assign(1, item_[i]);
                    part[w].push_back({prefix, base_[i].support});
                    std::vector<size_t> later(item_.size() - i - 1);
                    for (size_t k = 0; k < later.size(); k++)
                        later[k] = i + 1 + k;
                    extend(prefix, base_[i], later, scratch, part[w]);
                }
            });
        for (auto& t : pool)
            t.join();
        std::vector<Found> found;
        for (auto& p : part)
            std::move(p.begin(), p.end(), std::back_inserter(found));
        std::sort(found.begin(), found.end(),
                  [](const Found& a, const Found& b) { return a.items < b.items; });
        return found;
    }

private:
    // Only items that were frequent together with the parent can be frequent here.
    void extend(Items& prefix, const Bitmap& cover, const std::vector<size_t>& candidates,
                std::vector<Bitmap>& scratch, std::vector<Found>& out) const
    {
        if (prefix.size() >= kMaxSize)
            return;
        Bitmap& joint = scratch[prefix.size()];
        std::vector<size_t> alive;
        for (size_t c : candidates)
            if (intersect(cover, base_[c], joint) >= kMinSupport)
                alive.push_back(c);
        for (size_t k = 0; k < alive.size(); k++) {
            intersect(cover, base_[alive[k]], joint);
            prefix.push_back(item_[alive[k]]);
            out.push_back({prefix, joint.support});
            extend(prefix, joint, {alive.begin() + k + 1, alive.end()}, scratch, out);
            prefix.pop_back();
        }
    }

    std::vector<uint16_t> item_;
    std::vector<Bitmap> base_;
    std::atomic<size_t> next_{0};
};

}  // namespace

int main()
{
    const auto orders = make_orders();
    const auto sets = Miner(orders).run();
    std::unordered_map<Items, uint32_t, ItemsHash> support;
    support.reserve(sets.size());
    for (const auto& f : sets)
        support.emplace(f.items, f.support);

    long rules = 0;
    double lift_sum = 0.0, best = 0.0;
    for (const auto& f : sets) {
        if (f.items.size() < 2)
            continue;
        for (size_t drop = 0; drop < f.items.size(); drop++) {
            Items body = f.items;
            body.erase(body.begin() + static_cast<long>(drop));
            double confidence = static_cast<double>(f.support) / support.at(body);
            if (confidence < 0.5)
                continue;
            double lift = confidence * kOrders / support.at({f.items[drop]});
            rules++;
            lift_sum += lift;
            best = std::max(best, lift);
        }
    }
    std::printf("%zu orders, %zu frequent sets, %ld rules, mean lift %.4f, best %.4f\n",
                orders.size(), sets.size(), rules, rules ? lift_sum / rules : 0.0, best);
    return 0;
}

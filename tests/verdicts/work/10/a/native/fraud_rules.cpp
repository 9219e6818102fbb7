// Card fraud scoring: replays a day of transactions against the history of
// each card and a set of rules, and reports the alerts by rule.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr uint32_t kCards = 4000;
constexpr uint32_t kTransactions = 1200000;
constexpr size_t kHistory = 64;

struct Transaction {
    uint64_t time = 0;
    uint32_t card = 0;
    double amount = 0.0, magnitude = 0.0;   // magnitude: log of the amount
    std::string merchant;
    std::string country;
};

struct CardHistory {
    std::vector<Transaction> recent;   // ring of the last kHistory transactions
    size_t next = 0;
    double limit = 0.0;

    void add(const Transaction& t) {
        if (recent.size() < kHistory) {
            recent.push_back(t);
        } else {
            recent[next] = t;
            next = (next + 1) % kHistory;
        }
    }
};

class HistoryStore {
public:
    CardHistory load(uint32_t card) const {
        auto it = cards_.find(card);
        return it == cards_.end() ? CardHistory{} : it->second;
    }

    void record(const Transaction& t) {
        CardHistory& h = cards_[t.card];
        if (h.recent.empty()) {
            h.recent.reserve(kHistory);
            h.limit = 500.0 + double(t.card % 17) * 150.0;
        }
        h.add(t);
    }

    size_t size() const { return cards_.size(); }

private:
    std::unordered_map<uint32_t, CardHistory> cards_;
};

class TransactionFeed {
public:
    explicit TransactionFeed(uint64_t seed) : state_(seed) {}

    Transaction next() {
        Transaction t;
        clock_ += 1 + draw(3);
        t.time = clock_;
        t.card = draw(kCards) * draw(kCards) / kCards;
        t.amount = 2.0 + std::exp(double(draw(700)) / 100.0);
        t.magnitude = std::log(t.amount);
        t.merchant = "merchant-" + std::to_string(draw(9)) + "-terminal-" + std::to_string(100000 + draw(5000));
        static const std::array<const char*, 6> kCountry = {"DE", "FR", "US", "BR", "SG", "ZA"};
        t.country = kCountry[draw(40) == 0 ? draw(6) : t.card % 6];
        return t;
    }

private:
    uint32_t draw(uint32_t n) {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return uint32_t(state_ >> 24) % n;
    }
    uint64_t state_;
    uint64_t clock_ = 0;
};

struct Features {
    double mean = 0.0, deviation = 0.0, zscore = 0.0;
    int burst = 0, abroad = 0, same_merchant = 0, known = 0;
    double hourly_sum = 0.0, limit = 0.0;
};

Features extract(const CardHistory& history, const Transaction& t) {
    Features f;
    f.limit = history.limit;
    if (history.recent.empty()) return f;
    double sum = 0.0, squares = 0.0;
    for (const Transaction& p : history.recent) {
        sum += p.magnitude;
        squares += p.magnitude * p.magnitude;
        if (t.time - p.time < 600) ++f.burst;
        if (t.time - p.time < 3600) {
            f.hourly_sum += p.amount;
            if (p.country != t.country) ++f.abroad;
        }
        if (p.merchant == t.merchant) ++f.same_merchant;
    }
    f.known = int(history.recent.size());
    f.mean = sum / f.known;
    f.deviation = std::sqrt(std::max(0.0, squares / f.known - f.mean * f.mean));
    f.zscore = f.deviation > 1e-9 ? (t.magnitude - f.mean) / f.deviation : 0.0;
    return f;
}

struct Rule {
    const char* name;
    bool (*matches)(const Features&, const Transaction&);
};

const std::array<Rule, 6> kRules = {{
    {"amount_outlier", [](const Features& f, const Transaction&) { return f.zscore > 2.1; }},
    {"burst", [](const Features& f, const Transaction&) { return f.burst >= 2; }},
    {"country_hop", [](const Features& f, const Transaction&) { return f.abroad >= 1; }},
    {"over_limit", [](const Features& f, const Transaction& t) { return f.limit > 0 && t.amount > f.limit; }},
    {"hourly_spend", [](const Features& f, const Transaction&) { return f.limit > 0 && f.hourly_sum > 3 * f.limit; }},
    {"repeat_terminal", [](const Features& f, const Transaction&) { return f.same_merchant >= 1 && f.known > 8; }},
}};

}  // namespace

int main() {
    HistoryStore store;
    TransactionFeed feed(0x9E3779B97F4A7C15ull);
    std::array<long, kRules.size()> hits{};
    long alerts = 0;
    double blocked = 0.0;

    for (uint32_t i = 0; i < kTransactions; ++i) {
        const Transaction t = feed.next();
        const CardHistory history = store.load(t.card);
        const Features features = extract(history, t);
        int score = 0;
        for (size_t r = 0; r < kRules.size(); ++r)
            if (kRules[r].matches(features, t)) {
                ++hits[r];
                ++score;
            }
        if (score >= 2) {
            ++alerts;
            blocked += t.amount;
        }
        store.record(t);
    }
    std::printf("cards %zu, transactions %u, alerts %ld, amount held %.2f\n", store.size(), kTransactions, alerts, blocked);
    for (size_t r = 0; r < kRules.size(); ++r) std::printf("  %-16s %8ld\n", kRules[r].name, hits[r]);
    return 0;
}

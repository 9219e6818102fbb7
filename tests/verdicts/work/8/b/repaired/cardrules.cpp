// cardrules: scores card payments against the rule book of an acquirer and
// counts the alerts that each rule raises.
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr int kPayments = 7'000'000;
constexpr int kCards = 20'000;

enum class Field { Amount, Hour, Country, CountLastHour, SumLastHour };
enum class Op { Greater, Less, Equal, NotEqual };

struct Condition {
    Field field;
    Op op;
    double value;
};

struct Rule {
    std::string id;
    std::string text;
    std::vector<Condition> when;
    double score;
};

struct Payment {
    uint32_t card;
    uint32_t at;  // seconds
    int category;
    int country;
    double amount;
};

struct Features {
    double amount, hour, country, count_hour, sum_hour;

    double get(Field f) const {
        switch (f) {
            case Field::Amount: return amount;
            case Field::Hour: return hour;
            case Field::Country: return country;
            case Field::CountLastHour: return count_hour;
            case Field::SumLastHour: return sum_hour;
        }
        return 0.0;
    }
};

class RuleBook {
public:
    explicit RuleBook(uint32_t seed) {
        std::mt19937 gen(seed);
        auto pick = [&](int n) { return static_cast<int>(gen() % static_cast<uint32_t>(n)); };
        for (int category = 0; category < 40; ++category) {
            std::vector<Rule>& set = by_category_[category];
            int n = 8 + pick(10);
            for (int r = 0; r < n; ++r) {
                Rule rule;
                rule.id = "R-" + std::to_string(category) + "-" + std::to_string(r);
                rule.text = "alert for category " + std::to_string(category) + ", see the manual, section " +
                            std::to_string(r);
                rule.score = 0.1 + 0.05 * pick(12);
                rule.when.push_back({Field::Amount, Op::Greater, 60.0 + 20.0 * pick(25)});
                if (pick(2)) rule.when.push_back({Field::CountLastHour, Op::Greater, 1.0 + pick(3)});
                if (pick(2)) rule.when.push_back({Field::Hour, Op::Less, 4.0 + pick(5)});
                if (pick(3) == 0) rule.when.push_back({Field::Country, Op::NotEqual, double(pick(30))});
                if (pick(3) == 0) rule.when.push_back({Field::SumLastHour, Op::Greater, 300.0 + 50.0 * pick(20)});
                set.push_back(std::move(rule));
            }
        }
    }

    const std::vector<Rule>& rules_for(int category) const {
        static const std::vector<Rule> none;
        auto it = by_category_.find(category);
        return it == by_category_.end() ? none : it->second;
    }

private:
    std::map<int, std::vector<Rule>> by_category_;
};

class Velocity {
public:
    Velocity() : cards_(kCards) {}

    void add(const Payment& p, Features& f) {
        Window& w = cards_[p.card];
        while (!w.recent.empty() && w.recent.front().first + 3600 < p.at) {
            w.cents -= w.recent.front().second;
            w.recent.pop_front();
        }
        f.count_hour = static_cast<double>(w.recent.size());
        f.sum_hour = static_cast<double>(w.cents) / 100.0;
        int64_t cents = static_cast<int64_t>(p.amount * 100.0 + 0.5);
        w.recent.emplace_back(p.at, cents);
        w.cents += cents;
    }

private:
    struct Window {
        std::deque<std::pair<uint32_t, int64_t>> recent;
        int64_t cents = 0;
    };
    std::vector<Window> cards_;
};

bool holds(const Condition& c, const Features& f) {
    double v = f.get(c.field);
    switch (c.op) {
        case Op::Greater: return v > c.value;
        case Op::Less: return v < c.value;
        case Op::Equal: return v == c.value;
        case Op::NotEqual: return v != c.value;
    }
    return false;
}

class Scorer {
public:
    explicit Scorer(const RuleBook& book) : book_(book) {}

    double score(const Payment& p) {
        Features f{p.amount, static_cast<double>(p.at / 3600 % 24), static_cast<double>(p.country), 0.0, 0.0};
        velocity_.add(p, f);
        double total = 0.0;
        const auto& rules = book_.rules_for(p.category);
        for (const Rule& r : rules) {
            bool all = true;
            for (const Condition& c : r.when)
                if (!holds(c, f)) {
                    all = false;
                    break;
                }
            if (all) {
                total += r.score;
                ++alerts_[r.id];
            }
        }
        return total;
    }

    const std::unordered_map<std::string, uint64_t>& alerts() const { return alerts_; }

private:
    const RuleBook& book_;
    Velocity velocity_;
    std::unordered_map<std::string, uint64_t> alerts_;
};

}  // namespace

int main() {
    RuleBook book(99);
    Scorer scorer(book);
    std::mt19937_64 gen(2024);
    std::lognormal_distribution<double> amount(3.6, 0.9);
    uint64_t declined = 0;
    double total = 0.0;
    for (int i = 0; i < kPayments; ++i) {
        uint64_t r = gen();
        Payment p{static_cast<uint32_t>(r % kCards), static_cast<uint32_t>(i / 12),
                  static_cast<int>((r >> 40) % 44), static_cast<int>((r >> 48) % 30), amount(gen)};
        double s = scorer.score(p);
        total += s;
        declined += s > 0.7;
    }
    uint64_t alerts = 0, top = 0;
    for (const auto& [id, n] : scorer.alerts()) {
        alerts += n;
        top = n > top ? n : top;
    }
    std::printf("payments %d declined %llu alerts %llu top %llu mean score %.6f\n", kPayments, (unsigned long long)declined,
                (unsigned long long)alerts, (unsigned long long)top, total / kPayments);
    return 0;
}

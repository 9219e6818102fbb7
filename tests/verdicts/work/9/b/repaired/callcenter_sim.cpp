// Discrete-event simulation of a support centre: calls arrive by hour of day,
// wait in skill queues, may hang up, and are served by agents of each skill.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <numeric>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace {

enum class Kind : uint8_t { Arrival, Finish };

struct Event {
    double time;
    uint64_t seq;
    Kind kind;
    int skill;
    bool operator>(const Event& o) const { return time != o.time ? time > o.time : seq > o.seq; }
};

struct Call {
    uint64_t id;
    double arrived;
    double patience;
    int skill;
    int priority;
};

struct SkillStats {
    uint64_t offered = 0, served = 0, abandoned = 0, in_target = 0;
    double total_wait = 0, total_talk = 0;
    size_t longest_queue = 0;
    std::vector<float> waits;
};

class WaitingLine {
public:
    void push(const Call& c) { calls_.push_back(c); }
    bool empty() const { return calls_.empty(); }
    size_t size() const { return calls_.size(); }

    Call pop() {
        Call c = calls_.front();
        calls_.pop_front();
        return c;
    }

private:
    std::deque<Call> calls_;
};

struct Skill {
    const char* name;
    int agents;
    double mean_talk;
    double calls_per_hour;
};

class Centre {
public:
    Centre(std::vector<Skill> skills, uint32_t seed)
        : skills_(std::move(skills)), stats_(skills_.size()), lines_(skills_.size()),
          free_(skills_.size()), rng_(seed) {
        for (size_t i = 0; i < skills_.size(); ++i) {
            free_[i] = skills_[i].agents;
            schedule(exponential(3600 / rate(i, 0)), Kind::Arrival, static_cast<int>(i));
        }
    }

    void run(double until) {
        while (!events_.empty() && events_.top().time < until) {
            const Event e = events_.top();
            events_.pop();
            now_ = e.time;
            if (e.kind == Kind::Arrival)
                arrive(e.skill);
            else
                finish(e.skill);
        }
    }

    void report() {
        for (size_t i = 0; i < skills_.size(); ++i) {
            SkillStats& s = stats_[i];
            std::sort(s.waits.begin(), s.waits.end());
            const double p90 = s.waits.empty() ? 0 : s.waits[s.waits.size() * 9 / 10];
            std::printf("%-10s offered %llu served %llu abandoned %llu in-target %.4f wait %.2f p90 %.2f "
                        "talk %.2f longest %zu\n",
                        skills_[i].name, (unsigned long long)s.offered, (unsigned long long)s.served,
                        (unsigned long long)s.abandoned, double(s.in_target) / s.served,
                        s.total_wait / s.served, p90, s.total_talk / s.served, s.longest_queue);
        }
    }

private:
    double exponential(double mean) { return std::exponential_distribution<double>(1 / mean)(rng_); }

    double rate(size_t skill, double t) const {
        const double hour = std::fmod(t / 3600, 24);
        const double shape = 0.55 + 0.75 * std::exp(-(hour - 11) * (hour - 11) / 8)
                             + 0.55 * std::exp(-(hour - 17) * (hour - 17) / 6);
        return skills_[skill].calls_per_hour * shape;
    }

    void schedule(double in, Kind kind, int skill) { events_.push({now_ + in, seq_++, kind, skill}); }

    void arrive(int skill) {
        SkillStats& s = stats_[skill];
        s.offered++;
        Call c{next_id_++, now_, 600 + exponential(5400), skill, 0};
        if (free_[skill] > 0) {
            free_[skill]--;
            serve(c);
        } else {
            lines_[skill].push(c);
            s.longest_queue = std::max(s.longest_queue, lines_[skill].size());
        }
        schedule(exponential(3600 / rate(skill, now_)), Kind::Arrival, skill);
    }

    void serve(const Call& c) {
        SkillStats& s = stats_[c.skill];
        const double wait = now_ - c.arrived;
        const double talk = std::lognormal_distribution<double>(std::log(skills_[c.skill].mean_talk) - 0.18, 0.6)(rng_);
        s.served++;
        s.total_wait += wait;
        s.total_talk += talk;
        s.in_target += wait < 20;
        s.waits.push_back(static_cast<float>(wait));
        schedule(talk, Kind::Finish, c.skill);
    }

    void finish(int skill) {
        WaitingLine& line = lines_[skill];
        while (!line.empty()) {
            const Call c = line.pop();
            if (c.arrived + c.patience < now_) {
                stats_[skill].abandoned++;
                continue;
            }
            serve(c);
            return;
        }
        free_[skill]++;
    }

    std::vector<Skill> skills_;
    std::vector<SkillStats> stats_;
    std::vector<WaitingLine> lines_;
    std::vector<int> free_;
    std::mt19937_64 rng_;
    std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events_;
    double now_ = 0;
    uint64_t seq_ = 0, next_id_ = 1;
};

}  // namespace

int main() {
    const int weeks = 1;
    Centre centre({{"billing", 1900, 300, 22000},
                   {"technical", 3200, 540, 20000},
                   {"sales", 1200, 240, 16000},
                   {"retention", 700, 420, 5400}},
                  12345);
    centre.run(weeks * 7 * 86400.0);
    centre.report();
    return 0;
}

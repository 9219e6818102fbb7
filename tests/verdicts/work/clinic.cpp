// Event simulation of an emergency department: arrivals, triage, treatment, discharge.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <queue>
#include <vector>
#include "dwell/dwell.h"

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

enum Kind { Arrive, Triaged, Treated, CheckUp };
struct Event { double at; Kind kind; int patient; };
struct Later { bool operator()(const Event& a, const Event& b) const { return a.at > b.at; } };

class Agenda {
public:
    void add(const Event& e) {
        auto t = Clock::now();
#ifdef REPAIRED
        events_.push(e);
#else
        events_.push_back(e);
        std::sort(events_.begin(), events_.end(), Later());
#endif
        spent += since(t);
    }
    Event take() {
#ifdef REPAIRED
        Event e = events_.top();
        events_.pop();
#else
        Event e = events_.back();
        events_.pop_back();
#endif
        return e;
    }
    bool empty() const { return events_.empty(); }
    size_t size() const { return events_.size(); }
    double spent = 0;

private:
#ifdef REPAIRED
    std::priority_queue<Event, std::vector<Event>, Later> events_;
#else
    std::vector<Event> events_;
#endif
};

struct Patient { double came = 0; int severity = 0; double vitals[24]; };

class Random {
public:
    double uniform() {
        s_ ^= s_ << 13;
        s_ ^= s_ >> 7;
        s_ ^= s_ << 17;
        return double(s_ >> 11) / 9007199254740992.0;
    }
    double exponential(double mean) { return -mean * std::log(1 - uniform()); }

private:
    uint64_t s_ = 0x2545F4914F6CDD1Dull;
};

// Severity from a series of vital signs: a score from 40 logistic models.
static int triage(const Patient& p) {
    double votes = 0;
    for (int m = 0; m < 40; ++m) {
        double z = -0.4;
        for (int i = 0; i < 24; ++i) z += p.vitals[i] * std::sin(0.7 * m + 0.3 * i);
        votes += 1 / (1 + std::exp(-z));
    }
    return std::min(4, int(votes / 8));
}

int main() {
    auto start = Clock::now();
    const int total_patients = 16000, nurses = 6, doctors = 14;
    std::vector<Patient> patients(total_patients);
    Random rnd;
    Agenda agenda;
    std::deque<int> desk, wards[5];
    int free_nurses = nurses, free_doctors = doctors;
    double clock = 0, wait_sum[5] = {0};
    long seen[5] = {0}, checks = 0;
    size_t longest = 0;
    agenda.add({0, Arrive, 0});
    while (!agenda.empty()) {
        DWELL_STEP();
        longest = std::max(longest, agenda.size());
        Event e = agenda.take();
        clock = e.at;
        Patient& p = patients[e.patient];
        if (e.kind == Arrive) {
            p.came = clock;
            for (double& v : p.vitals) v = rnd.uniform() - 0.5;
            desk.push_back(e.patient);
            if (e.patient + 1 < total_patients) agenda.add({clock + rnd.exponential(2.6), Arrive, e.patient + 1});
        } else if (e.kind == Triaged) {
            p.severity = triage(p);
            wards[p.severity].push_back(e.patient);
            ++free_nurses;
        } else if (e.kind == Treated) {
            ++free_doctors;
            for (int k = 1; k <= 2; ++k) agenda.add({clock + 60 * 24 * k + rnd.uniform() * 300, CheckUp, e.patient});
        } else {
            ++checks;
            for (double& v : p.vitals) v *= 0.8;
            if (triage(p) == 4 && rnd.uniform() < 0.01) agenda.add({clock + 120, CheckUp, e.patient});
        }
        while (free_nurses > 0 && !desk.empty()) {
            --free_nurses;
            agenda.add({clock + 3 + rnd.exponential(4), Triaged, desk.front()});
            desk.pop_front();
        }
        for (int w = 4; w >= 0; --w)
            while (free_doctors > 0 && !wards[w].empty()) {
                int who = wards[w].front();
                wards[w].pop_front();
                --free_doctors;
                wait_sum[w] += clock - patients[who].came;
                ++seen[w];
                agenda.add({clock + 8 + rnd.exponential(18 + 4 * w), Treated, who});
            }
    }
    for (int w = 4; w >= 0; --w)
        if (seen[w]) printf("severity %d: %ld patients, mean wait %.1f min\n", w, seen[w], wait_sum[w] / seen[w]);
    printf("closed after %.0f min, %ld check-ups, longest agenda %zu\n", clock, checks, longest);
    double total = since(start);
#ifdef REPAIRED
    agenda.spent = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", agenda.spent / total, total);
}

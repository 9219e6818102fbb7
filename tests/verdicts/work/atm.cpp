// A day of cash machine transactions with an audit file and a fraud score.
#include <unistd.h>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>
#include "dwell/dwell.h"

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Account { double balance; double usual; double spread; int last_town; int second; bool blocked; };
struct Transaction { int account; int town; int second; double amount; bool deposit; };

class Audit {
public:
    explicit Audit(const std::string& name) : name_(name), file_(fopen(name.c_str(), "w")) {}
    ~Audit() {
        fclose(file_);
        unlink(name_.c_str());
    }
    void note(const Transaction& t, const char* outcome, double balance) {
        bool due = ++lines_ % 4 == 0;
        fprintf(file_, "%05d acc=%d town=%d %s %.2f %s balance=%.2f\n", t.second, t.account, t.town,
                t.deposit ? "in" : "out", t.amount, outcome, balance);
#ifndef REPAIRED
        auto at = due ? Clock::now() : Clock::time_point();
        fflush(file_);
        if (due) spent += 4 * (since(at) - 30e-9);
#endif
        (void)due;
    }
    long lines() const { return lines_; }
    double spent = 0;

private:
    std::string name_;
    FILE* file_;
    long lines_ = 0;
};

class Generator {
public:
    Transaction next(int second, int accounts) {
        Transaction t;
        t.account = int(draw() % accounts);
        t.town = draw() % 8 ? t.account % 40 : int(draw() % 40);
        t.second = second;
        t.deposit = draw() % 5 == 0;
        t.amount = 10 * (1 + draw() % (draw() % 50 ? 30 : 200));
        return t;
    }

private:
    uint32_t draw() {
        s_ ^= s_ << 13;
        s_ ^= s_ >> 17;
        s_ ^= s_ << 5;
        return s_;
    }
    uint32_t s_ = 362436069u;
};

// A small network with fixed weights: five inputs, twelve hidden units, one output.
static double fraud(const Account& a, const Transaction& t) {
    double in[5] = {(t.amount - a.usual) / (a.spread + 20), t.town != a.last_town ? 1.0 : 0.0,
                    std::exp(-(t.second - a.second) / 900.0), t.deposit ? 1.0 : 0.0, t.amount > a.balance ? 1.0 : 0.0};
    double z = -1.5;
    for (int h = 0; h < 12; ++h) {
        double s = 0.1 * (h % 5) - 0.2;
        for (int i = 0; i < 5; ++i) s += in[i] * (((h * 7 + i * 3) % 11) * 0.2 - 0.6);
        z += std::tanh(s) * ((h % 4) * 0.5 - 0.4);
    }
    return 1 / (1 + std::exp(-z));
}

int main() {
    auto start = Clock::now();
    std::vector<Account> accounts(5000);
    for (size_t i = 0; i < accounts.size(); ++i) accounts[i] = {500.0 + i % 900 * 4, 80.0 + i % 60, 30, int(i % 40), 0, false};
    Audit audit("/var/tmp/audit-" + std::to_string(getpid()) + ".log");
    Generator generator;
    long refused = 0, blocked = 0, paid = 0;
    double cash = 0;
    for (int second = 0; second < 86400; second += 60) {
        DWELL_STEP();
        for (int k = 0; k < 700; ++k) {
            Transaction t = generator.next(second + k * 60 / 700, int(accounts.size()));
            Account& a = accounts[t.account];
            double score = fraud(a, t);
            const char* outcome = "ok";
            if (a.blocked) outcome = "blocked";
            else if (score > 0.93 && t.amount > 1500) { a.blocked = true; ++blocked; outcome = "suspicious"; }
            else if (t.deposit) { a.balance += t.amount; cash += t.amount; }
            else if (t.amount > a.balance) { ++refused; outcome = "refused"; }
            else {
                a.balance -= t.amount;
                cash -= t.amount;
                ++paid;
                a.spread += 0.1 * (std::fabs(t.amount - a.usual) - a.spread);
                a.usual += 0.05 * (t.amount - a.usual);
            }
            a.last_town = t.town;
            a.second = t.second;
            audit.note(t, outcome, a.balance);
        }
        if (second % 21600 == 0) printf("hour %2d: cash %.0f, paid %ld\n", second / 3600, cash, paid);
    }
    printf("paid %ld, refused %ld, blocked %ld, audit lines %ld\n", paid, refused, blocked, audit.lines());
    double total = since(start);
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", audit.spent / total, total);
}

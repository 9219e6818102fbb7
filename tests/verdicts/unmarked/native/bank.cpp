// Transfers between accounts, screened for risk, handled by four clerks.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

struct Transfer { int from, to; double amount; uint32_t salt; };

static std::vector<double> accounts(500, 1000.0);
static std::mutex book_mutex;
static long rejected = 0;

static std::vector<Transfer> make_transfers(int n, uint32_t seed) {
    std::vector<Transfer> list;
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        list.push_back({(int)(seed >> 8) % 500, (int)(seed >> 3 & 0xffff) % 500,
                        1.0 + (seed >> 20) % 50, seed});
    }
    return list;
}

static double risk_score(const Transfer &t) {
    double s = t.amount;
    uint32_t h = t.salt;
    for (int i = 0; i < 40000; i++) {
        h = (h ^ (h >> 15)) * 2246822519u + i;
        s = s * 0.999 + (h & 255) * 0.001;
    }
    return s;
}

static double rounding_wait(double cents) {
    double v = cents;
    for (int i = 0; i < 1500; i++) v = std::floor(v * 100 + 0.5) / 100 + 1e-3;
    return v;
}

// the card terminal takes its time to acknowledge
static void confirm(const Transfer &t) {
    std::this_thread::sleep_for(std::chrono::microseconds(1700 + (t.salt & 255)));
}

static void book(const Transfer &t) {
    accounts[t.from] -= t.amount;
    accounts[t.to] += t.amount;
}

static void clerk(const std::vector<Transfer> &work, double *fees) {
    for (const Transfer &t : work) {
        *fees += rounding_wait(t.amount) * 0.001;
        std::lock_guard<std::mutex> guard(book_mutex);
        double score = risk_score(t);
        confirm(t);
        if (score > 127.9)
            rejected++;
        else
            book(t);
    }
}

static double total() {
    double sum = 0;
    for (double a : accounts) sum += a;
    return sum;
}

int main() {
    std::vector<Transfer> work[4];
    double fees[4] = {0, 0, 0, 0};
    std::vector<std::thread> clerks;
    for (int i = 0; i < 4; i++) work[i] = make_transfers(330, 7 + 31 * i);
    for (int i = 0; i < 4; i++) clerks.emplace_back(clerk, std::cref(work[i]), &fees[i]);
    for (std::thread &t : clerks) t.join();
    std::printf("total %.2f fees %.2f rejected %ld\n", total(), fees[0] + fees[1] + fees[2] + fees[3], rejected);
    return 0;
}

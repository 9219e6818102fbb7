// Trace-driven simulation of a batch cluster: jobs arrive, wait in a fair
// share queue, and are placed on nodes with enough free cores and memory.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int NODES = 96;
constexpr int JOBS = 75000;
constexpr int PROJECTS = 40;

struct Job {
    int id, project, cores, mem;
    double submit, runtime, start = -1;
    double priority = 0;
};

struct Node {
    int cores = 64, mem = 256;
};

struct Event {
    double time;
    int kind;       // 0 submit, 1 finish
    int job, node;
    bool operator<(const Event &o) const
    {
        if (time != o.time) return time > o.time;
        return kind != o.kind ? kind < o.kind : job > o.job;
    }
};

std::vector<Job> make_trace()
{
    std::mt19937 rng(5);
    std::exponential_distribution<double> gap(1.0 / 3.6);
    std::lognormal_distribution<double> run(7.2, 1.0);
    std::uniform_int_distribution<int> size(0, 5), project(0, PROJECTS - 1), mem(1, 4);
    std::vector<Job> jobs(JOBS);
    double t = 0;
    for (int i = 0; i < JOBS; i++) {
        t += gap(rng);
        int cores = 1 << size(rng);
        jobs[i] = {i, project(rng), cores, cores * mem(rng), t, run(rng)};
    }
    return jobs;
}

class Scheduler {
public:
    explicit Scheduler(std::vector<Job> jobs)
        : jobs_(std::move(jobs)), nodes_(NODES), usage_(PROJECTS, 0.0), share_(PROJECTS)
    {
        for (int p = 0; p < PROJECTS; p++)
            share_[p] = 1.0 + p % 5;
    }

    void run()
    {
        for (const Job &j : jobs_)
            events_.push({j.submit, 0, j.id, -1});
        while (!events_.empty()) {
            Event e = events_.top();
            events_.pop();
            now_ = e.time;
            if (e.kind == 0)
                enqueue(e.job);
            else
                release(e.job, e.node);
            dispatch();
        }
    }

    void report() const
    {
        double wait = 0, worst = 0, slow = 0;
        for (const Job &j : jobs_) {
            double w = j.start - j.submit;
            wait += w;
            worst = std::max(worst, w);
            slow += (w + j.runtime) / std::max(60.0, j.runtime);
        }
        std::printf("jobs %zu makespan %.0f s mean wait %.1f s worst %.0f s\n", jobs_.size(), now_,
                    wait / jobs_.size(), worst);
        std::printf("mean slowdown %.3f longest queue %zu placed %ld\n", slow / jobs_.size(),
                    longest_, placed_);
    }

private:
    // Fixed at submission: the project's use so far against its share.
    double priority_of(const Job &j) const
    {
        return usage_[j.project] / share_[j.project] / 1e5 + j.submit / 3600.0;
    }

    void enqueue(int id)
    {
        Job &j = jobs_[id];
        j.priority = priority_of(j);
        auto before = [this](int a, int b) {
            if (jobs_[a].priority != jobs_[b].priority) return jobs_[a].priority < jobs_[b].priority;
            return a < b;
        };
        waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), id, before), id);
        longest_ = std::max(longest_, waiting_.size());
    }

    void release(int id, int node)
    {
        const Job &j = jobs_[id];
        nodes_[node].cores += j.cores;
        nodes_[node].mem += j.mem;
        usage_[j.project] += j.cores * j.runtime;
    }

    // Best fit: the node that keeps the fewest free cores.
    int find_node(const Job &j) const
    {
        int best = -1;
        for (int n = 0; n < NODES; n++) {
            if (nodes_[n].cores < j.cores || nodes_[n].mem < j.mem) continue;
            if (best < 0 || nodes_[n].cores < nodes_[best].cores) best = n;
        }
        return best;
    }

    // Starts jobs from the head; looks a little past a blocked head (backfill).
    void dispatch()
    {
        int blocked = 0;
        size_t i = 0;
        while (i < waiting_.size() && blocked < 200) {
            Job &j = jobs_[waiting_[i]];
            int n = find_node(j);
            if (n < 0) {
                blocked++;
                i++;
                continue;
            }
            nodes_[n].cores -= j.cores;
            nodes_[n].mem -= j.mem;
            j.start = now_;
            placed_++;
            events_.push({now_ + j.runtime, 1, j.id, n});
            waiting_.erase(waiting_.begin() + i);
        }
    }

    std::vector<Job> jobs_;
    std::vector<Node> nodes_;
    std::vector<double> usage_, share_;
    std::vector<int> waiting_;
    std::priority_queue<Event> events_;
    double now_ = 0;
    size_t longest_ = 0;
    long placed_ = 0;
};

}  // namespace

int main()
{
    Scheduler s(make_trace());
    s.run();
    s.report();
    return 0;
}

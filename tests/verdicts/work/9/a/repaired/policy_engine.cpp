// Evaluates access policies for a stream of API requests.
//
// Policies are grouped by service.  Each policy has a list of principals,
// conditions on attributes and an effect; the first matching deny wins, then
// the allow with the highest priority.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

enum class Effect { Allow, Deny };

struct Condition {
    std::string attribute;
    std::string prefix;
};

struct Policy {
    std::vector<std::string> roles;
    std::vector<Condition> conditions;
    Effect effect = Effect::Allow;
    int priority = 0;
};

struct Request {
    std::string service, path, role;
    std::unordered_map<std::string, std::string> attributes;
};

struct Decision {
    bool allowed = false;
    std::string policy;
};

class PolicyStore {
public:
    void add(const std::string &service, const std::string &name, Policy p) {
        services_[service].emplace(name, std::move(p));
    }

    Decision evaluate(const Request &r) const {
        Decision d;
        auto it = services_.find(r.service);
        if (it == services_.end())
            return d;
        int best = -1;
        for (const auto &entry : it->second) {
            const Policy &p = entry.second;
            if (!applies(p, r))
                continue;
            if (p.effect == Effect::Deny) {
                d.allowed = false;
                d.policy = entry.first;
                return d;
            }
            if (p.priority > best) {
                best = p.priority;
                d.allowed = true;
                d.policy = entry.first;
            }
        }
        return d;
    }

private:
    static bool applies(const Policy &p, const Request &r) {
        if (std::find(p.roles.begin(), p.roles.end(), r.role) == p.roles.end())
            return false;
        for (const Condition &c : p.conditions) {
            auto a = r.attributes.find(c.attribute);
            if (a == r.attributes.end() || a->second.compare(0, c.prefix.size(), c.prefix) != 0)
                return false;
        }
        return true;
    }

    std::map<std::string, std::map<std::string, Policy>> services_;
};

const char *const kServices[] = {"billing", "catalogue", "identity", "inventory", "shipping", "search"};
const char *const kRoles[] = {"service-account-reader", "service-account-writer", "tenant-admin",
                              "support-engineer", "auditor", "anonymous"};
const char *const kRegions[] = {"eu-west-1", "eu-central-1", "us-east-1", "ap-south-1"};

void fill(PolicyStore &store, std::mt19937 &gen) {
    for (const char *service : kServices)
        for (int i = 0; i < 32; i++) {
            Policy p;
            for (unsigned k = 0, n = 1 + gen() % 3; k < n; k++)
                p.roles.push_back(kRoles[gen() % 6]);
            p.conditions.push_back({"source-region-name", std::string(kRegions[gen() % 4]).substr(0, 2 + gen() % 8)});
            if (gen() % 2)
                p.conditions.push_back({"resource", "/v" + std::to_string(1 + gen() % 3) + "/"});
            if (gen() % 4 == 0)
                p.conditions.push_back({"tenant", "t" + std::to_string(gen() % 10)});
            p.effect = gen() % 11 == 0 ? Effect::Deny : Effect::Allow;
            p.priority = int(gen() % 100);
            store.add(service, std::string(service) + "/managed-policy-" + std::to_string(1000 + i), std::move(p));
        }
}

// Splits "service|role|k=v;k=v|path" as it comes from the gateway.
Request parse(const std::string &line) {
    Request r;
    std::size_t a = line.find('|'), b = line.find('|', a + 1), c = line.find('|', b + 1);
    r.service = line.substr(0, a);
    r.role = line.substr(a + 1, b - a - 1);
    r.path = line.substr(c + 1);
    std::size_t i = b + 1;
    while (i < c) {
        std::size_t eq = line.find('=', i), end = std::min(line.find(';', i), c);
        r.attributes.emplace(line.substr(i, eq - i), line.substr(eq + 1, end - eq - 1));
        i = end + 1;
    }
    r.attributes.emplace("resource", r.path);
    return r;
}

std::string synthesise(std::mt19937 &gen) {
    std::string s = kServices[gen() % 6];
    s += '|';
    s += kRoles[gen() % 6];
    s += "|source-region-name=";
    s += kRegions[gen() % 4];
    s += ";tenant=t" + std::to_string(gen() % 1000);
    s += ";client-version=2." + std::to_string(gen() % 30);
    s += "|/v" + std::to_string(1 + gen() % 3) + "/items/" + std::to_string(gen() % 100000);
    return s;
}

}  // namespace

int main() {
    std::mt19937 gen(90210);
    PolicyStore store;
    fill(store, gen);

    std::map<std::string, std::uint64_t> per_policy;
    std::uint64_t allowed = 0, total = 1700000;
    for (std::uint64_t i = 0; i < total; i++) {
        const Request r = parse(synthesise(gen));
        const Decision d = store.evaluate(r);
        allowed += d.allowed;
        if (!d.policy.empty())
            per_policy[d.policy]++;
    }

    std::printf("%llu of %llu allowed, %zu policies used\n", (unsigned long long)allowed,
                (unsigned long long)total, per_policy.size());
    auto top = std::max_element(per_policy.begin(), per_policy.end(),
                                [](const auto &x, const auto &y) { return x.second < y.second; });
    std::printf("most used: %s (%llu)\n", top->first.c_str(), (unsigned long long)top->second);
    return 0;
}

// Sorts support mail into folders: extracts order numbers, scores the wording,
// assigns each message to an agent and keeps a summary per folder.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

struct Mail {
    uint32_t id = 0;
    std::string subject;
    std::string body;
};

struct Verdict {
    std::string folder;
    std::string order;
    int score = 0;
};

class Generator {
public:
    Mail make(uint32_t id) {
        static const char *nouns[] = {"invoice", "parcel", "refund", "password", "delivery", "account", "voucher"};
        static const char *verbs[] = {"missing", "damaged", "late", "locked", "wrong", "confirmed"};
        static const char *filler[] = {"please", "check", "my", "order", "again", "thanks", "the", "courier",
                                       "said", "that", "nobody", "was", "home", "yesterday", "and", "I",
                                       "would", "like", "an", "answer", "today"};
        Mail m;
        m.id = id;
        m.subject = std::string(nouns[roll(7)]) + " " + verbs[roll(6)];
        if (roll(3) == 0)
            m.subject = "Re: " + m.subject;
        char order[24];
        std::snprintf(order, sizeof order, "%c%c-%06u", 'A' + roll(26), 'A' + roll(26), roll(1000000));
        uint32_t words = 40 + roll(60), at = roll(words * 5 / 4);
        for (uint32_t i = 0; i < words; i++) {
            m.body += filler[roll(21)];
            m.body += i % 12 == 11 ? ".\n" : " ";
            if (i == at)
                m.body += std::string(order) + " ";
        }
        return m;
    }

private:
    int roll(uint32_t n) {
        state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<int>((state_ >> 33) % n);
    }
    uint64_t state_ = 2024;
};

static std::string lowered(std::string s) {
    std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return std::tolower(c); });
    return s;
}

static std::string orderNumber(const std::string &body) {
    static const std::regex pattern("[A-Z]{2}-[0-9]{6}");
    std::smatch m;
    if (std::regex_search(body, m, pattern))
        return m.str();
    return "";
}

static bool isReply(const std::string &subject) {
    return subject.compare(0, 4, "Re: ") == 0;
}

static std::string folderFor(const std::string &subject) {
    static const std::regex billing("invoice|refund|voucher"), shipping("parcel|delivery"),
        access("password|account");
    if (std::regex_search(subject, billing))
        return "billing";
    if (std::regex_search(subject, shipping))
        return "shipping";
    if (std::regex_search(subject, access))
        return "access";
    return "other";
}

static int wordingScore(const std::string &body) {
    static const std::unordered_map<std::string, int> weights = {
        {"nobody", 3}, {"again", 2}, {"today", 2}, {"answer", 1}, {"thanks", -2}, {"please", -1}};
    int score = 0;
    std::string word;
    for (char c : body) {
        if (std::isalpha(static_cast<unsigned char>(c))) {
            word += c;
            continue;
        }
        auto it = weights.find(word);
        if (it != weights.end())
            score += it->second;
        word.clear();
    }
    return score;
}

static Verdict judge(const Mail &m) {
    Verdict v;
    v.folder = folderFor(lowered(m.subject));
    v.order = orderNumber(m.body);
    v.score = wordingScore(lowered(m.body)) + (isReply(m.subject) ? 2 : 0);
    return v;
}

struct Folder {
    uint32_t mails = 0, withOrder = 0;
    int64_t score = 0;
    uint32_t digest = 0;
    std::vector<uint32_t> urgent;

    void add(const Mail &m, const Verdict &v) {
        mails++;
        score += v.score;
        if (!v.order.empty()) {
            withOrder++;
            for (char c : v.order)
                digest = digest * 31 + static_cast<unsigned char>(c);
        }
        if (v.score > 25)
            urgent.push_back(m.id);
    }
};

int main() {
    Generator gen;
    std::map<std::string, Folder> folders;
    for (uint32_t id = 1; id <= 95000; id++) {
        Mail m = gen.make(id);
        Verdict v = judge(m);
        folders[v.folder].add(m, v);
    }
    for (const auto &kv : folders)
        std::printf("%-9s mails %u orders %u score %lld urgent %zu digest %08x\n", kv.first.c_str(), kv.second.mails,
                    kv.second.withOrder, static_cast<long long>(kv.second.score), kv.second.urgent.size(),
                    kv.second.digest);
    return 0;
}

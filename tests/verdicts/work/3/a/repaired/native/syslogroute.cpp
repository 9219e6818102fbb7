// Splits a stream of syslog-style events into per-facility files, with counters.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

namespace fs = std::filesystem;

struct Event {
    uint32_t when = 0;
    uint32_t pid = 0;
    std::string host, facility, severity, text;
};

class EventSource {
public:
    EventSource() : state_(0xC0FFEEull) {}

    Event next() {
        static const char *hosts[] = {"web-01", "web-02", "db-01", "queue-01", "edge-07"};
        static const char *facilities[] = {"auth", "cron", "kern", "mail", "daemon", "local0"};
        static const char *severities[] = {"info", "notice", "warning", "err"};
        static const char *words[] = {"session", "opened", "closed", "timeout", "retry",
                                      "accepted", "refused", "peer", "flushed", "rotated"};
        Event e;
        clock_ += pick(3);
        e.when = clock_;
        e.pid = 100 + pick(30000);
        e.host = hosts[pick(5)];
        e.facility = facilities[pick(6)];
        e.severity = severities[pick(4)];
        int n = 5 + static_cast<int>(pick(8));
        for (int i = 0; i < n; i++) {
            if (i)
                e.text += ' ';
            e.text += words[pick(10)];
        }
        return e;
    }

private:
    uint32_t pick(uint32_t n) {
        state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<uint32_t>(state_ >> 33) % n;
    }
    uint64_t state_;
    uint32_t clock_ = 1700000000u;
};

static std::string clockText(uint32_t when) {
    char buf[16];
    uint32_t s = when % 86400;
    std::snprintf(buf, sizeof buf, "%02u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
    return buf;
}

static uint32_t fingerprint(const std::string &s) {
    uint32_t h = 2166136261u;
    for (unsigned char c : s)
        h = (h ^ c) * 16777619u;
    return h;
}

static std::string masked(const std::string &text) {
    std::string out;
    out.reserve(text.size());
    size_t at = 0;
    while (at < text.size()) {
        size_t end = text.find(' ', at);
        if (end == std::string::npos)
            end = text.size();
        std::string word = text.substr(at, end - at);
        if (word == "session" || word == "peer")
            out += "[" + word + "]";
        else
            out += word;
        if (end < text.size())
            out += ' ';
        at = end + 1;
    }
    return out;
}

class FacilityFile {
public:
    explicit FacilityFile(const fs::path &path) : out_(path) {}

    void append(const Event &e) {
        std::string text = masked(e.text);
        out_ << clockText(e.when) << ' ' << e.host << ' ' << e.facility << '.' << e.severity << '[' << e.pid
             << "]: " << text << " #" << fingerprint(text) << '\n';
        lines_++;
        digest_ = digest_ * 31 + fingerprint(text);
    }

    uint64_t lines() const { return lines_; }
    uint64_t digest() const { return digest_; }

private:
    std::ofstream out_;
    uint64_t lines_ = 0;
    uint64_t digest_ = 0;
};

class Router {
public:
    explicit Router(fs::path dir) : dir_(std::move(dir)) {}

    void route(const Event &e) {
        auto &file = files_[e.facility];
        if (!file)
            file = std::make_unique<FacilityFile>(dir_ / (e.facility + ".log"));
        file->append(e);
        bySeverity_[e.severity]++;
    }

    void summary() const {
        for (const auto &kv : files_)
            std::cout << kv.first << ' ' << kv.second->lines() << ' ' << std::hex << kv.second->digest()
                      << std::dec << '\n';
        for (const auto &kv : bySeverity_)
            std::cout << kv.first << ' ' << kv.second << '\n';
    }

    void close() { files_.clear(); }

private:
    fs::path dir_;
    std::map<std::string, std::unique_ptr<FacilityFile>> files_;
    std::map<std::string, uint64_t> bySeverity_;
};

int main() {
    fs::path dir = fs::temp_directory_path() / ("syslogroute." + std::to_string(getpid()));
    fs::create_directories(dir);
    EventSource source;
    Router router(dir);
    for (int i = 0; i < 2200000; i++)
        router.route(source.next());
    router.summary();
    router.close();
    uintmax_t bytes = 0;
    for (const auto &f : fs::directory_iterator(dir))
        bytes += fs::file_size(f.path());
    std::cout << "bytes " << bytes << '\n';
    fs::remove_all(dir);
    return 0;
}

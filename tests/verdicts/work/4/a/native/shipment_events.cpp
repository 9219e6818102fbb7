// Shipment tracking: carrier scan events are applied to the shipments table
// and the customer notifications that follow are queued.
#include <sqlite3.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kShipments = 20000;
constexpr int kEvents = 16000;
constexpr int kBatch = 500;

const char* const kSchema = R"sql(
CREATE TABLE carriers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, sla_hours INTEGER NOT NULL);
CREATE TABLE shipments (
    id INTEGER PRIMARY KEY,
    tracking_no TEXT NOT NULL,
    carrier_id INTEGER NOT NULL REFERENCES carriers(id),
    status TEXT NOT NULL DEFAULT 'created',
    last_hub TEXT,
    updated_at INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX shipments_tracking ON shipments(tracking_no);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    shipment_id INTEGER NOT NULL REFERENCES shipments(id),
    kind TEXT NOT NULL, hub TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX events_shipment ON events(shipment_id, at);
CREATE TABLE notifications (id INTEGER PRIMARY KEY, shipment_id INTEGER NOT NULL, body TEXT NOT NULL);
)sql";

class Statement {
public:
    Statement(sqlite3* db, const char* sql) : db_(db) {
        if (sqlite3_prepare_v2(db, sql, -1, &stmt_, nullptr) != SQLITE_OK)
            throw std::runtime_error(sqlite3_errmsg(db));
    }
    ~Statement() { sqlite3_finalize(stmt_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    Statement& bind(int i, int64_t v) {
        sqlite3_bind_int64(stmt_, i, v);
        return *this;
    }
    Statement& bind(int i, const std::string& v) {
        sqlite3_bind_text(stmt_, i, v.data(), int(v.size()), SQLITE_TRANSIENT);
        return *this;
    }
    bool step() {
        int rc = sqlite3_step(stmt_);
        if (rc != SQLITE_ROW && rc != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(db_));
        return rc == SQLITE_ROW;
    }
    void run() {
        while (step()) {}
        reset();
    }
    void reset() { sqlite3_reset(stmt_); }
    int64_t integer(int c) const { return sqlite3_column_int64(stmt_, c); }
    std::string text(int c) const {
        auto p = reinterpret_cast<const char*>(sqlite3_column_text(stmt_, c));
        return p ? p : "";
    }

private:
    sqlite3* db_;
    sqlite3_stmt* stmt_ = nullptr;
};

void execute(sqlite3* db, const char* sql) {
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        throw std::runtime_error(sqlite3_errmsg(db));
}

std::string tracking_number(int i) {
    char buf[32];
    std::snprintf(buf, sizeof buf, "JD%04d%08dNL", (i * 37) % 10000, i);
    return buf;
}

void load_shipments(sqlite3* db) {
    execute(db, "BEGIN");
    Statement carrier(db, "INSERT INTO carriers VALUES (?, ?, ?)");
    for (int c = 0; c < 12; ++c)
        carrier.bind(1, c).bind(2, "carrier-" + std::to_string(c)).bind(3, 24 + 12 * (c % 4)).run();
    Statement shipment(db, "INSERT INTO shipments (id, tracking_no, carrier_id) VALUES (?, ?, ?)");
    for (int i = 0; i < kShipments; ++i)
        shipment.bind(1, i).bind(2, tracking_number(i)).bind(3, i % 12).run();
    execute(db, "COMMIT");
}

struct ScanEvent {
    std::string tracking, kind, hub;
    int64_t at;
};

// Hand scanners differ in the case that they send.
std::vector<ScanEvent> carrier_feed() {
    const char* kinds[] = {"picked_up", "in_transit", "at_hub", "out_for_delivery", "delivered"};
    std::mt19937 rng(8);
    std::vector<ScanEvent> feed;
    for (int i = 0; i < kEvents; ++i) {
        ScanEvent e{tracking_number(int(rng() % (kShipments + 200))), kinds[rng() % 5],
                    "HUB-" + std::to_string(rng() % 60), 1700000000 + i * 3};
        if (rng() % 3 == 0)
            for (char& c : e.tracking) c = char(std::tolower(c));
        feed.push_back(e);
    }
    return feed;
}

class EventProcessor {
public:
    explicit EventProcessor(sqlite3* db)
        : find_(db, "SELECT s.id, s.updated_at, c.sla_hours FROM shipments s "
                    "JOIN carriers c ON c.id = s.carrier_id "
                    "WHERE s.tracking_no = ? COLLATE NOCASE"),
          update_(db, "UPDATE shipments SET status = ?, last_hub = ?, updated_at = ? WHERE id = ?"),
          insert_(db, "INSERT INTO events (shipment_id, kind, hub, at) VALUES (?, ?, ?, ?)"),
          notify_(db, "INSERT INTO notifications (shipment_id, body) VALUES (?, ?)") {}

    void apply(const ScanEvent& e) {
        find_.bind(1, e.tracking);
        if (!find_.step()) {
            find_.reset();
            ++unknown;
            return;
        }
        int64_t id = find_.integer(0), updated = find_.integer(1), sla = find_.integer(2);
        find_.reset();
        insert_.bind(1, id).bind(2, e.kind).bind(3, e.hub).bind(4, e.at).run();
        update_.bind(1, e.kind).bind(2, e.hub).bind(3, e.at).bind(4, id).run();
        if (e.kind == "delivered" || (updated && e.at - updated > sla * 60))
            notify_.bind(1, id).bind(2, "Your parcel: " + e.kind + " at " + e.hub).run();
        ++applied;
    }

    int applied = 0, unknown = 0;

private:
    Statement find_, update_, insert_, notify_;
};

}  // namespace

int main() {
    std::string path = "shipments.db";
    std::remove(path.c_str());
    sqlite3* db = nullptr;
    if (sqlite3_open(path.c_str(), &db) != SQLITE_OK) return 1;
    execute(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    execute(db, kSchema);
    load_shipments(db);
    {
        EventProcessor processor(db);
        std::vector<ScanEvent> feed = carrier_feed();
        for (size_t i = 0; i < feed.size(); i += kBatch) {
            execute(db, "BEGIN IMMEDIATE");
            for (size_t k = i; k < std::min(feed.size(), i + kBatch); ++k) processor.apply(feed[k]);
            execute(db, "COMMIT");
        }
        std::printf("applied %d, unknown %d\n", processor.applied, processor.unknown);
        Statement report(db, "SELECT status, count(*), max(updated_at) FROM shipments GROUP BY status ORDER BY status");
        while (report.step())
            std::printf("%-18s %6lld %lld\n", report.text(0).c_str(), (long long)report.integer(1),
                        (long long)report.integer(2));
        Statement sent(db, "SELECT count(*) FROM notifications");
        sent.step();
        std::printf("notifications %lld\n", (long long)sent.integer(0));
    }
    sqlite3_close(db);
    std::remove(path.c_str());
    return 0;
}

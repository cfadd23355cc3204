// SPDX-License-Identifier: Apache-2.0
// sessions/rocesim_session.hpp - sessions of rocesim in C++11: objects that close themselves, and
// exceptions with the text of what was refused.
//
// Link with librocesim (pkg-config rocesim-session). docs/sessions.md
#ifndef SESSIONS_ROCESIM_SESSION_HPP
#define SESSIONS_ROCESIM_SESSION_HPP

#include "rocesim_session.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace rocesim {

// A call was refused, or the session has ended.
class SessionError : public std::runtime_error {
  public:
    explicit SessionError(const std::string &text) : std::runtime_error(text) {}
};

struct Options {
    std::string program;               // empty: $ROCESIM, or "rocesim" in the PATH
    std::string server;                // "unix:PATH" or "127.0.0.1:PORT"; empty: start a program
    std::string token;                 // that the server asks for
    std::string folder;                // for the results of finish(); empty: none
    std::vector<std::string> settings; // "PATH=VALUE"
};

// Returns a transfer that begins now, with the defaults of its NIC.
inline rocesim_transfer_t transfer(uint32_t source, uint32_t destination, uint64_t bytes)
{
    rocesim_transfer_t made = {};
    made.source = source;
    made.destination = destination;
    made.bytes = bytes;
    made.at_ps = ROCESIM_NOW;
    made.priority = -1;
    return made;
}

class Session {
  public:
    explicit Session(const std::string &scenario, const Options &options = Options())
    {
        std::vector<const char *> settings;
        for (const std::string &setting : options.settings) {
            settings.push_back(setting.c_str());
        }
        rocesim_session_options_t given = {};
        given.program = text_or_null(options.program);
        given.server = text_or_null(options.server);
        given.token = text_or_null(options.token);
        given.folder = text_or_null(options.folder);
        given.settings = settings.data();
        given.setting_count = settings.size();
        handle = rocesim_session_open(scenario.c_str(), &given);
        if (handle == nullptr) {
            throw SessionError("no memory is left");
        }
        const std::string error = rocesim_session_error(handle);
        if (!error.empty()) {
            rocesim_session_close(handle);
            throw SessionError(error);
        }
    }
    ~Session() { rocesim_session_close(handle); }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;
    Session(Session &&other) noexcept : handle(other.handle) { other.handle = nullptr; }

    size_t host_count() const { return rocesim_session_host_count(handle); }
    std::string host_name(size_t host) const { return rocesim_session_host_name(handle, host); }
    // Returns the time up to which everything has happened.
    uint64_t now_ps() const { return rocesim_session_now_ps(handle); }
    bool stalled() const { return rocesim_session_stalled(handle) != 0; }
    // Returns how many transfers waited or ran after the last advance() or next_completion().
    uint64_t open_transfers() const { return rocesim_session_open_transfers(handle); }
    void set_slack(uint64_t slack_ps) { rocesim_session_set_slack(handle, slack_ps); }

    uint64_t submit(const rocesim_transfer_t &at)
    {
        uint64_t id = 0;
        check(rocesim_session_submit(handle, &at, &id));
        return id;
    }
    std::vector<uint64_t> submit(const std::vector<rocesim_transfer_t> &transfers)
    {
        std::vector<uint64_t> ids(transfers.size());
        check(rocesim_session_submit_many(handle, transfers.data(), transfers.size(), ids.data()));
        return ids;
    }
    // kind: "collective", "workload" or "training"; attributes: a JSON object.
    uint64_t submit_program(const std::string &kind,
                            const std::string &attributes,
                            uint64_t at_ps = ROCESIM_NOW,
                            bool per_rank = false,
                            uint64_t tag = 0)
    {
        const rocesim_program_t program = {kind.c_str(), attributes.c_str(), at_ps, per_rank, tag};
        uint64_t id = 0;
        check(rocesim_session_submit_program(handle, &program, &id));
        return id;
    }
    // Runs everything before until_ps and returns what has ended since the last call.
    std::vector<rocesim_completion_t> advance(uint64_t until_ps)
    {
        const rocesim_completion_t *list = nullptr;
        size_t count = 0;
        check(rocesim_session_advance(handle, until_ps, &list, &count));
        return std::vector<rocesim_completion_t>(list, list + count);
    }
    // Runs until the next transfer ends, or until_ps.
    std::vector<rocesim_completion_t> next_completion(uint64_t until_ps = ROCESIM_NEVER)
    {
        const rocesim_completion_t *list = nullptr;
        size_t count = 0;
        check(rocesim_session_next_completion(handle, until_ps, &list, &count));
        return std::vector<rocesim_completion_t>(list, list + count);
    }
    void cancel(uint64_t id) { check(rocesim_session_cancel(handle, id)); }
    // Returns how long a transfer would take, without changing anything.
    uint64_t estimate(const rocesim_transfer_t &at)
    {
        uint64_t took_ps = 0;
        check(rocesim_session_estimate(handle, &at, &took_ps));
        return took_ps;
    }
    uint64_t estimate_program(const std::string &kind, const std::string &attributes)
    {
        const rocesim_program_t program = {kind.c_str(), attributes.c_str(), ROCESIM_NOW, 0, 0};
        uint64_t took_ps = 0;
        check(rocesim_session_estimate_program(handle, &program, &took_ps));
        return took_ps;
    }
    // Estimates a list together, or each transfer alone.
    std::vector<rocesim_estimate_t> estimate(const std::vector<rocesim_transfer_t> &transfers,
                                             bool alone = false)
    {
        std::vector<rocesim_estimate_t> made(transfers.size());
        check(rocesim_session_estimate_many(handle, transfers.data(), transfers.size(), alone,
                                            made.data()));
        return made;
    }
    void mark() { check(rocesim_session_mark(handle)); }
    void back() { check(rocesim_session_back(handle)); }
    void drop() { check(rocesim_session_drop(handle)); }
    // Lets everything end, writes the results and returns summary.json.
    std::string finish()
    {
        char *summary = nullptr;
        check(rocesim_session_finish(handle, &summary));
        const std::string text = summary;
        std::free(summary);
        return text;
    }

  private:
    static const char *text_or_null(const std::string &text)
    {
        return text.empty() ? nullptr : text.c_str();
    }
    void check(int result)
    {
        if (result != 0) {
            throw SessionError(rocesim_session_error(handle));
        }
    }
    rocesim_session_t *handle;
};

} // namespace rocesim

#endif // SESSIONS_ROCESIM_SESSION_HPP

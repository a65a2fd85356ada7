/* SPDX-License-Identifier: MIT */
#include "support/long_session.h"

#include "support/agent_stream.h"
#include "tape/writer.h"

enum { PIECE = 4096, SNAPSHOT_MIB = 16 };

#define START_NS UINT64_C(1700000000000000000)
#define MIB_NS   (10 * 3600 * UINT64_C(1000000000) / 1024)

static void
append(struct tape_writer *w, struct tape_record rec)
{
    tape_writer_append(w, rec);
    tape_writer_tick(w, rec.ts_ns);
}

static void
append_mib(struct tape_writer *w, size_t i)
{
    AUTO(buf) out = { 0 };
    uint64_t from_ns = START_NS + MIB_NS * i;
    agent_stream(&out, 1 << 20, (uint32_t)i + 1);
    for (size_t off = 0, n; off < out.n; off += n) {
        n = out.n - off < PIECE ? out.n - off : (size_t)PIECE;
        append(w, (struct tape_record){
                      .tag = TAPE_DATA,
                      .ts_ns = from_ns + MIB_NS / 1024 * (off * 1024 / out.n),
                      .bytes = { out.p + off, n },
                  });
    }
    struct tape_writer_status st;
    tape_writer_status(w, &st);
    if (i % SNAPSHOT_MIB == 0)
        append(w, (struct tape_record){
                      .tag = TAPE_SNAPSHOT,
                      .ts_ns = from_ns + MIB_NS,
                      .snapshot_id = i + 1,
                      .byte_off = st.byte_off,
                      .bytes = { (const uint8_t *)"post-tool", 9 },
                  });
}

int
long_session_make(const char *path, size_t mib, struct err *err)
{
    struct tape_writer_options opt = tape_writer_defaults;
    struct tape_writer_status st;
    struct tape_writer *w;
    opt.cols = 120;
    opt.rows = 40;
    opt.sync = TAPE_SYNC_NONE;
    opt.start_ts_ns = START_NS;
    opt.patience_ns = UINT64_C(60000000000);
    int r = tape_writer_open(&w, tape_io_files(), path, &opt, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < mib; i++)
        append_mib(w, i);
    return tape_writer_finish(w, START_NS + MIB_NS * mib, &st, err);
}

/* SPDX-License-Identifier: MIT */
#include "cli/fs_names.h"

#include <limits.h>

#include "session/folder.h"
#include "session/meta.h"

struct known {
    char id[SESSION_ID_LEN + 1];
    char name[sizeof(((struct session_facts *)0)->name)]; /* "": none */
};

void
cli_fs_names_release(struct cli_fs_names *n)
{
    buf_release(&n->known);
}

static bool
read_facts(const char *home, const char *kind, const char *id, struct session_facts *ret)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    AUTO(buf) tape = { 0 };
    AUTO(buf) meta = { 0 };
    buf_printf(&dir, "%s/%s/%s", home, kind, id);
    return !dir.failed && session_folder_exists(home, kind, id) &&
           session_folder_paths(buf_str(&dir), &tape, &meta) == 0 &&
           session_meta_read(buf_str(&meta), ret, NULL) == 0;
}

/* In this order: one that ends meanwhile moves from the first to the second. */
static struct known
look(const char *home, const char *id)
{
    struct session_facts facts = { 0 };
    struct known k = { 0 };
    memcpy(k.id, id, sizeof(k.id));
    if (read_facts(home, "live", id, &facts) || read_facts(home, "sessions", id, &facts))
        memcpy(k.name, facts.name, sizeof(k.name));
    return k;
}

/* Snapshots that stand together mostly have the same one. */
static const struct known *
find(const struct cli_fs_names *n, const char *id)
{
    const struct known *all = (const void *)n->known.p;
    for (size_t i = n->known.n / sizeof(*all); i-- > 0;)
        if (!strcmp(all[i].id, id))
            return &all[i];
    return NULL;
}

const char *
cli_fs_name(struct cli_fs_names *n, const char *session)
{
    if (!session_id_is(session))
        return NULL;
    const struct known *k = find(n, session);
    if (!k) {
        struct known made = look(n->home, session);
        if (buf_append(&n->known, &made, sizeof(made)) < 0)
            return NULL;
        k = find(n, session);
    }
    return k && *k->name ? k->name : NULL;
}

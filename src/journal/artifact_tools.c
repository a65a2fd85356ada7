/* SPDX-License-Identifier: MIT */
/*
 * artifact_tools.c -- which files a tool writes, out of its arguments.
 *
 * Agents call the same tool by names of their own: these are compared in small letters,
 * without dashes and underscores, and without what stands before them ("mcp__files__").
 */
#include "base/json_in.h"
#include "journal/artifact_priv.h"
#include "journal/metadata_priv.h"

enum kind {
    WRITES,  /* the file at its path */
    EDITOR,  /* the same, unless its command is to look */
    DELETES, /* … removes it */
    PATCHES, /* what its changes say, or a patch among its arguments */
};

static const struct {
    const char *name;
    enum kind kind;
} tools[] = {
    { "write", WRITES },
    { "edit", WRITES },
    { "multiedit", WRITES },
    { "notebookedit", WRITES },
    { "writefile", WRITES },
    { "createfile", WRITES },
    { "editfile", WRITES },
    { "replace", WRITES },
    { "strreplaceeditor", EDITOR },
    { "strreplacebasededittool", EDITOR },
    { "deletefile", DELETES },
    { "applypatch", PATCHES },
    { "filechange", PATCHES },
    { "patch", PATCHES },
    { "shell", PATCHES },
    { "localshell", PATCHES },
    { "execcommand", PATCHES },
    { "commandexecution", PATCHES },
};

static const char *const path_keys[] = { "file_path", "filePath",     "notebook_path",
                                         "path",      "notebookPath", "absolute_path" };

struct call {
    journal_tool_fn fn;
    void *ctx;
    enum kind kind;
};

static int
kind_of(struct view name)
{
    char plain[64];
    size_t n = 0;
    for (size_t i = 0; i < name.n && n < sizeof(plain) - 1; i++) {
        uint8_t c = name.p[i];
        if (c == '_' && i + 1 < name.n && name.p[i + 1] == '_')
            n = 0;
        else if (c != '_' && c != '-')
            plain[n++] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    plain[n] = 0;
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
        if (!strcmp(tools[i].name, plain))
            return (int)tools[i].kind;
    return -1;
}

/* codex says {"path","kind":"add"}, or {"type":"add"} for its kind, or "add":{…}. */
static const char *
action_of(const struct buf *word)
{
    static const char *const words[][2] = {
        { "add", "created" },    { "create", "created" },  { "delete", "deleted" },
        { "remove", "deleted" }, { "update", "modified" }, { "modify", "modified" },
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (word->n == strlen(words[i][0]) && !memcmp(words[i][0], word->p, word->n))
            return words[i][1];
    return NULL;
}

/* What a change does: a word, or an object that says it by a key or by its type. */
static const char *
read_kind(struct view raw)
{
    AUTO(buf) text = { 0 };
    AUTO(journal_members) m = { .in = { .p = raw.p, .end = raw.p + raw.n } };
    journal_member_text(raw, &text);
    const char *action = action_of(&text);
    while (!action && journal_members_next(&m)) {
        action = action_of(&m.key);
        if (!action && !strcmp(buf_str(&m.key), "type")) {
            journal_member_text(m.value, &text);
            action = action_of(&text);
        }
    }
    return action;
}

static void
see_change(const struct call *c, struct view object)
{
    AUTO(journal_members) m = { .in = { .p = object.p, .end = object.p + object.n } };
    AUTO(buf) path = { 0 };
    const char *action = NULL;
    while (journal_members_next(&m)) {
        if (!strcmp(buf_str(&m.key), "path"))
            journal_member_text(m.value, &path);
        else if (!strcmp(buf_str(&m.key), "kind") || !strcmp(buf_str(&m.key), "type"))
            action = read_kind(m.value);
    }
    if (path.n)
        c->fn(c->ctx, (struct view){ path.p, path.n }, action);
}

/* An array of changes, or an object with a member for each path. */
static void
see_changes(const struct call *c, struct view raw)
{
    AUTO(journal_members) m = { .in = { .p = raw.p, .end = raw.p + raw.n } };
    struct json_in in = m.in;
    bool is_first = true;
    if (!json_in_take(&in, '[')) {
        while (journal_members_next(&m))
            if (m.key.n)
                c->fn(c->ctx, (struct view){ m.key.p, m.key.n }, read_kind(m.value));
        return;
    }
    while (json_in_each(&in, ']', &is_first)) {
        (void)json_in_peek(&in);
        const uint8_t *start = in.p;
        if (!json_in_skip(&in))
            return;
        see_change(c, (struct view){ start, (size_t)(in.p - start) });
    }
}

/* A text, or the last of some ("bash", "-lc", "apply_patch <<…"), that is a patch. */
static void
see_patch(const struct call *c, struct view raw)
{
    AUTO(buf) text = { 0 };
    struct json_in in = { .p = raw.p, .end = raw.p + raw.n };
    bool is_list = json_in_take(&in, '['), is_first = true;
    while (!is_list || json_in_each(&in, ']', &is_first)) {
        buf_clear(&text);
        bool is_text = json_in_peek(&in) == '"' && json_in_str(&in, &text);
        if (!is_text && (!is_list || !json_in_skip(&in)))
            return;
        if (is_text && memmem(text.p, text.n, "*** Begin Patch", 15))
            journal_patch_paths((struct view){ text.p, text.n }, c->fn, c->ctx);
        if (!is_list)
            return;
    }
}

static bool
is_path_key(const char *key)
{
    for (size_t i = 0; i < sizeof(path_keys) / sizeof(path_keys[0]); i++)
        if (!strcmp(path_keys[i], key))
            return true;
    return false;
}

static void
see_arguments(const struct call *c, struct view arguments)
{
    AUTO(journal_members)
    m = { .in = { .p = arguments.p, .end = arguments.p + arguments.n } };
    AUTO(buf) path = { 0 };
    AUTO(buf) word = { 0 };
    while (journal_members_next(&m)) {
        const char *key = buf_str(&m.key);
        if (c->kind == PATCHES && !strcmp(key, "changes"))
            see_changes(c, m.value);
        else if (c->kind == PATCHES)
            see_patch(c, m.value);
        else if (!path.n && is_path_key(key))
            journal_member_text(m.value, &path);
        else if (c->kind == EDITOR && !strcmp(key, "command"))
            journal_member_text(m.value, &word);
    }
    bool is_look = word.n == 4 && !memcmp(word.p, "view", 4);
    if (path.n && !is_look)
        c->fn(c->ctx, (struct view){ path.p, path.n },
              c->kind == DELETES ? "deleted" : NULL);
}

void
journal_tool_paths(struct view name, struct view arguments, journal_tool_fn fn, void *ctx)
{
    int kind = kind_of(name);
    if (kind < 0)
        return;
    struct call c = { fn, ctx, (enum kind)kind };
    struct json_in in = { .p = arguments.p, .end = arguments.p + arguments.n };
    if (json_in_peek(&in) == '{')
        see_arguments(&c, arguments);
    else if (c.kind == PATCHES) /* the patch alone */
        see_patch(&c, arguments);
}

const char *
journal_result_action(struct view text)
{
    static const char *const says[][2] = {
        { "File created", "created" },      { "created successfully", "created" },
        { "created and wrote", "created" }, { "has been updated", "modified" },
        { "overwrote file", "modified" },   { "modified file", "modified" },
        { "has been edited", "modified" },
    };
    size_t n = text.n < 4096 ? text.n : 4096;
    for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++)
        if (n && memmem(text.p, n, says[i][0], strlen(says[i][0])))
            return says[i][1];
    return NULL;
}

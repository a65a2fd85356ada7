/* SPDX-License-Identifier: MIT */
/* replay.c -- runs a fuzz target over its corpus, without a fuzzer: one TAP test in all.
 */
#include <dirent.h>
#include <stdio.h>

#include "base/file.h"
#include "fuzz/fuzz.h"

int
main(int argc, char **argv)
{
    int n = 0;
    DIR *d = argc == 2 ? opendir(argv[1]) : NULL;
    if (!d) {
        perror("replay: corpus");
        return 1;
    }
    for (struct dirent *e; (e = readdir(d));) {
        char path[4096];
        AUTO(buf) bytes = { 0 };
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name);
        if (file_slurp(path, &bytes) < 0) {
            perror(path);
            return 1;
        }
        printf("# %s\n", e->d_name);
        fflush(stdout);
        LLVMFuzzerTestOneInput(bytes.p, bytes.n);
        n++;
    }
    closedir(d);
    printf("%s 1 - %d inputs\n1..1\n", n ? "ok" : "not ok", n);
    return n ? 0 : 1;
}

/*
 * learn_site.c: 'lockstep learn site DIR': lessons and interactives as files that a browser opens
 * from a disk or any web server, for a class or for reading on the way.
 */
#include "cli/learn.h"
#include "studio/site.h"

#include <stdlib.h>
#include <unistd.h>

int cli_learn_site(struct cli_learn_session *session)
{
    if (session->word_count < 2) {
        host_error("site needs a folder: 'lockstep learn site ~/gpu-site'");
        return CLI_USAGE;
    }
    const char *folder = session->words[1];
    const char *web = toolchain_find_folder(session->arena, "LOCKSTEP_WEB", "/../src/studio/web",
                                            "/../share/lockstep/web");
    char *message = NULL;
    if (!web || access(web, R_OK) != 0) {
        host_error("the studio's pages are not beside lockstep; LOCKSTEP_WEB says where they are");
        return CLI_USAGE;
    }
    unsigned pages = studio_site(&session->course, web, folder, &message);
    if (!pages)
        host_error("%s", message);
    else if (session->json)
        printf("{\"pages\": %u}\n", pages);
    else
        printf("%u pages written to %s\nOpen %s/index.html in a browser, or put the folder on any "
               "web server.\n",
               pages, folder, folder);
    free(message);
    return pages ? CLI_OK : CLI_USAGE;
}

/*
 * peer.h: builds other people's solutions (kernels/FAMILY/host/peer_NAME.cu) with nvcc, for 'bench'.
 */
#ifndef LOCKSTEP_CLI_PEER_H
#define LOCKSTEP_CLI_PEER_H

#include "zoo/zoo.h"

/* The library's path, malloc'd; NULL and a malloc'd message. As bench_host.build_peer. */
char *peer_build(void *context, const struct zoo_family *family, const struct zoo_peer *peer,
                 int arch, char **message);

#endif

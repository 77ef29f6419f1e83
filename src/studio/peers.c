/*
 * peers.c: see peers.h. A thread looks at the deadlines once a second; a late peer's socket is shut
 * down, and libmicrohttpd, which finds it closed, cleans up.
 */
#include "studio/peers.h"

#include "base/arena.h"
#include "base/clock.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { STRANGERS = 32 };
static const double seconds_for[] = {[PEER_SENDS_HEADERS] = 10, [PEER_SENDS_BODY] = 30};
static const double seconds_idle = 120; /* of a known one between two requests */

struct peer {
    struct peer *next; /* the one that came before it */
    int socket;
    enum peer_state state;
    double since; /* of the state */
    bool is_known, is_dropped;
    bool has_user; /* user was looked up; only the peer's own thread asks */
    long user;
};

struct peers {
    pthread_mutex_t lock;
    pthread_cond_t stop;
    bool stopping;
    pthread_t watcher;
    struct peer *newest;
};

/* The lock is held, so the socket is still this peer's. */
static void drop(struct peer *peer)
{
    peer->is_dropped = true;
    shutdown(peer->socket, SHUT_RDWR);
}

static bool is_late(const struct peer *peer, double now)
{
    if (peer->state == PEER_IS_ANSWERED || peer->is_dropped)
        return false;
    bool is_idle = peer->is_known && peer->state == PEER_SENDS_HEADERS;
    return now - peer->since > (is_idle ? seconds_idle : seconds_for[peer->state]);
}

static void *watch(void *context)
{
    struct peers *peers = context;
    pthread_mutex_lock(&peers->lock);
    while (!peers->stopping) {
        struct timespec until;
        double now = lk_seconds();
        for (struct peer *peer = peers->newest; peer; peer = peer->next)
            if (is_late(peer, now))
                drop(peer);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&peers->stop, &peers->lock, &until);
    }
    pthread_mutex_unlock(&peers->lock);
    return NULL;
}

struct peers *peers_create(void)
{
    struct peers *peers = lk_alloc_zeroed(sizeof *peers);
    pthread_mutex_init(&peers->lock, NULL);
    pthread_cond_init(&peers->stop, NULL);
    if (pthread_create(&peers->watcher, NULL, watch, peers) != 0)
        abort();
    return peers;
}

void peers_destroy(struct peers *peers)
{
    if (!peers)
        return;
    pthread_mutex_lock(&peers->lock);
    peers->stopping = true;
    pthread_cond_signal(&peers->stop);
    pthread_mutex_unlock(&peers->lock);
    pthread_join(peers->watcher, NULL);
    pthread_cond_destroy(&peers->stop);
    pthread_mutex_destroy(&peers->lock);
    free(peers);
}

/* A stranger more than there is room for: the oldest goes that is not being answered. Browsers send
 * their headers as soon as they are connected, so it is none of them. */
static void make_room(struct peers *peers)
{
    unsigned strangers = 0;
    struct peer *oldest = NULL;
    for (struct peer *peer = peers->newest; peer; peer = peer->next) {
        if (peer->is_known || peer->is_dropped)
            continue;
        strangers++;
        if (peer->state != PEER_IS_ANSWERED)
            oldest = peer;
    }
    if (strangers > STRANGERS && oldest)
        drop(oldest);
}

static void add(struct peers *peers, struct MHD_Connection *connection, void **place)
{
    struct peer *peer = lk_alloc_zeroed(sizeof *peer);
    peer->socket =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    peer->since = lk_seconds();
    peer->next = peers->newest;
    peers->newest = peer;
    *place = peer;
    make_room(peers);
}

static void take_out(struct peers *peers, struct peer *peer)
{
    struct peer **link = &peers->newest;
    while (*link != peer)
        link = &(*link)->next;
    *link = peer->next;
    free(peer);
}

void peers_notify(void *context, struct MHD_Connection *connection, void **place,
                  enum MHD_ConnectionNotificationCode what)
{
    struct peers *peers = context;
    pthread_mutex_lock(&peers->lock);
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        add(peers, connection, place);
    else if (*place)
        take_out(peers, *place);
    pthread_mutex_unlock(&peers->lock);
}

static struct peer *peer_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

void peer_enters(struct peers *peers, struct MHD_Connection *connection, enum peer_state state)
{
    struct peer *peer = peer_of(connection);
    pthread_mutex_lock(&peers->lock);
    peer->state = state;
    peer->since = lk_seconds();
    pthread_mutex_unlock(&peers->lock);
}

void peer_is_known(struct peers *peers, struct MHD_Connection *connection)
{
    struct peer *peer = peer_of(connection);
    pthread_mutex_lock(&peers->lock);
    peer->is_known = true;
    pthread_mutex_unlock(&peers->lock);
}

/* Linux lists every TCP socket with its owner, addresses in hex: " 5: 0100007F:A2B4 0100007F:1F90
 * 01
 * ... UID ..." */
static long find_user(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr_in *client = (const struct sockaddr_in *)(const void *)info->client_addr;
    if (!client || client->sin_family != AF_INET)
        return -1;
    FILE *file = fopen("/proc/net/tcp", "re");
    char line[512];
    long user = -1;
    while (file && user < 0 && fgets(line, sizeof line, file)) {
        char address[9], port[5], uid[12];
        if (sscanf(line, " %*u: %8[0-9A-F]:%4[0-9A-F] %*s %*s %*s %*s %*s %11[0-9]", address, port,
                   uid) == 3 &&
            strtoul(address, NULL, 16) == client->sin_addr.s_addr &&
            strtoul(port, NULL, 16) == ntohs(client->sin_port))
            user = strtol(uid, NULL, 10);
    }
    if (file)
        fclose(file);
    return user;
}

long peer_user(struct MHD_Connection *connection)
{
    struct peer *peer = peer_of(connection);
    if (!peer->has_user)
        peer->user = find_user(connection);
    peer->has_user = true;
    return peer->user;
}

/*
 * peers.h: the connections to the studio. Anyone on this computer can open one, so a peer that has
 * not shown the cookie yet gets little: few places, of which a newcomer takes the oldest, and
 * seconds to finish its headers. So a slow peer cannot keep the learner's own browser out.
 */
#ifndef LOCKSTEP_STUDIO_PEERS_H
#define LOCKSTEP_STUDIO_PEERS_H

#include <microhttpd.h>
#include <stdbool.h>

struct peers;

struct peers *peers_create(void);
void peers_destroy(struct peers *peers); /* after the daemon has stopped */

/* libmicrohttpd's callback for connections that open and close; context is a struct peers. */
void peers_notify(void *context, struct MHD_Connection *connection, void **place,
                  enum MHD_ConnectionNotificationCode what);

/* The headers have come, the request is complete, or its reply is sent: what the next deadline is
 * for. */
enum peer_state { PEER_SENDS_HEADERS, PEER_SENDS_BODY, PEER_IS_ANSWERED };
void peer_enters(struct peers *peers, struct MHD_Connection *connection, enum peer_state state);

/* It has shown the cookie. */
void peer_is_known(struct peers *peers, struct MHD_Connection *connection);

/* The user whose process is at the other end, or -1 where the system does not tell. */
long peer_user(struct MHD_Connection *connection);

#endif

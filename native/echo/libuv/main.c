/* Echo with libuv. One loop in each thread; all loops accept from the same listening socket, so that Unix sockets
   and TCP are served alike (SO_REUSEPORT is for TCP only). Which loop takes a connection is chance: who wakes first. */
#include "echo.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

struct server {
  const struct echo_settings *settings;
  int listener;
};

/* A connection, and what it has read and not sent yet. It reads no more until that is sent. */
struct connection {
  union {
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
  } socket;
  uv_write_t rest;
  char data[ECHO_READ_BYTES];
};

/* A stream of the listener's kind, not connected yet. */
static void init_stream(uv_loop_t *loop, const struct server *server, uv_stream_t *stream) {
  if (server->settings->path != NULL) {
    uv_pipe_init(loop, (uv_pipe_t *)stream, 0);
  } else {
    uv_tcp_init(loop, (uv_tcp_t *)stream);
  }
}

static void on_closed(uv_handle_t *socket) { free(socket->data); }

static void close_connection(struct connection *connection) {
  uv_close((uv_handle_t *)&connection->socket.stream, on_closed);
}

static void give_buffer(uv_handle_t *socket, size_t suggested_bytes, uv_buf_t *buffer) {
  struct connection *connection = socket->data;
  (void)suggested_bytes;
  *buffer = uv_buf_init(connection->data, sizeof connection->data);
}

static void on_read(uv_stream_t *stream, ssize_t size_bytes, const uv_buf_t *buffer);

static void on_rest_sent(uv_write_t *rest, int status) {
  struct connection *connection = rest->data;
  if (status < 0 || uv_read_start(&connection->socket.stream, give_buffer, on_read) != 0) close_connection(connection);
}

static void send_rest(struct connection *connection, size_t sent_bytes, size_t size_bytes) {
  uv_buf_t rest = uv_buf_init(connection->data + sent_bytes, (unsigned)(size_bytes - sent_bytes));
  uv_read_stop(&connection->socket.stream);
  connection->rest.data = connection;
  if (uv_write(&connection->rest, &connection->socket.stream, &rest, 1, on_rest_sent) != 0) {
    close_connection(connection);
  }
}

static void on_read(uv_stream_t *stream, ssize_t size_bytes, const uv_buf_t *buffer) {
  struct connection *connection = stream->data;
  if (size_bytes < 0) {
    close_connection(connection);
    return;
  }
  if (size_bytes == 0) return; /* EAGAIN */
  echo_count((size_t)size_bytes);
  uv_buf_t answer = uv_buf_init(buffer->base, (unsigned)size_bytes);
  int sent_bytes = uv_try_write(stream, &answer, 1);
  if (sent_bytes == UV_EAGAIN) sent_bytes = 0;
  if (sent_bytes < 0) {
    close_connection(connection);
  } else if (sent_bytes < size_bytes) {
    send_rest(connection, (size_t)sent_bytes, (size_t)size_bytes);
  }
}

static void set_options(struct connection *connection, const struct echo_settings *settings) {
  int send_bytes = settings->buffer_bytes, receive_bytes = settings->buffer_bytes;
  if (settings->path == NULL) uv_tcp_nodelay(&connection->socket.tcp, settings->nodelay);
  if (settings->buffer_bytes == 0) return;
  uv_send_buffer_size((uv_handle_t *)&connection->socket.stream, &send_bytes);
  uv_recv_buffer_size((uv_handle_t *)&connection->socket.stream, &receive_bytes);
}

static void on_connection(uv_stream_t *listener, int status) {
  const struct server *server = listener->data;
  if (status < 0) {
    fprintf(stderr, "A connection could not be accepted: %s.\n", uv_strerror(status));
    return;
  }
  struct connection *connection = malloc(sizeof *connection);
  if (connection == NULL) abort();
  init_stream(listener->loop, server, &connection->socket.stream);
  connection->socket.stream.data = connection;
  if (uv_accept(listener, &connection->socket.stream) != 0) {
    close_connection(connection); /* another loop was faster, or the peer has gone */
    return;
  }
  set_options(connection, server->settings);
  if (uv_read_start(&connection->socket.stream, give_buffer, on_read) != 0) close_connection(connection);
}

static void *open_server(const struct echo_settings *settings, int listener) {
  static struct server server;
  server = (struct server){settings, listener};
  return &server;
}

static int open_listener(const struct server *server, uv_stream_t *stream) {
  int own = dup(server->listener); /* a loop closes what it opens */
  return server->settings->path != NULL ? uv_pipe_open((uv_pipe_t *)stream, own) : uv_tcp_open((uv_tcp_t *)stream, own);
}

static void serve(void *argument) {
  struct server *server = argument;
  uv_loop_t loop;
  union {
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
  } listener;
  int failed = uv_loop_init(&loop);
  if (failed == 0) {
    init_stream(&loop, server, &listener.stream);
    listener.stream.data = server;
    failed = open_listener(server, &listener.stream);
  }
  if (failed == 0) failed = uv_listen(&listener.stream, SOMAXCONN, on_connection);
  if (failed != 0) {
    fprintf(stderr, "The loop could not be started: %s.\n", uv_strerror(failed));
    exit(EXIT_FAILURE);
  }
  uv_run(&loop, UV_RUN_DEFAULT);
}

int main(int argc, char **argv) {
  const struct echo_library library = {
      "libuv", GILSCOPE_COMPILER, {"libuv", uv_version_string()}, open_server, serve};
  return echo_main(argc, argv, &library);
}

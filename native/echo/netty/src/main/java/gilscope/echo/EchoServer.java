package gilscope.echo;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.atomic.LongAdder;

/** The server: one group of event loops accepts and serves. */
final class EchoServer {
  private static final int BACKLOG = 4096;
  // A message that is written but not flushed yet must not look like a peer that does not read.
  private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(64 * 1024, 1024 * 1024);

  // It grows with what arrives, as Netty's own does, up to the read size of all echo servers: docs/experiments.md.
  private static final AdaptiveRecvByteBufAllocator READS = new AdaptiveRecvByteBufAllocator(64, 2048, 256 * 1024);

  private final Settings settings;
  private final LongAdder echoedBytes;
  private final Transport transport = Transport.best();

  EchoServer(Settings settings, LongAdder echoedBytes) {
    this.settings = settings;
    this.echoedBytes = echoedBytes;
  }

  /** epoll or nio. */
  String transportName() {
    return transport.name();
  }

  /** Listen and serve on threads of its own; the address in words: a path, or host:port. */
  String start() {
    boolean unix = settings.path() != null;
    SocketAddress where =
        unix ? transport.unixAddress(settings.path()) : new InetSocketAddress(settings.host(), settings.port());
    Channel listening = bootstrap(unix).bind(where).syncUninterruptibly().channel();
    if (unix) {
      return settings.path().toString();
    }
    return settings.host() + ":" + ((InetSocketAddress) listening.localAddress()).getPort();
  }

  private ServerBootstrap bootstrap(boolean unix) {
    ServerBootstrap bootstrap = new ServerBootstrap();
    bootstrap
        .group(new MultiThreadIoEventLoopGroup(settings.threads(), transport.handlers()))
        .channel(unix ? transport.unixServer() : transport.tcpServer())
        .option(ChannelOption.SO_BACKLOG, BACKLOG)
        .childOption(ChannelOption.RECVBUF_ALLOCATOR, READS)
        .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
        .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
        .childHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new EchoHandler(echoedBytes));
              }
            });
    if (!unix) {
      bootstrap.childOption(ChannelOption.TCP_NODELAY, settings.nodelay());
    }
    if (settings.bufferBytes() > 0) {
      bootstrap.childOption(ChannelOption.SO_SNDBUF, settings.bufferBytes());
      bootstrap.childOption(ChannelOption.SO_RCVBUF, settings.bufferBytes());
    }
    return bootstrap;
  }
}

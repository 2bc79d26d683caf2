package gilscope.echo;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.function.Function;

/** One of Netty's ways to the kernel: its event loops, its listening channels, its address of a Unix socket. */
record Transport(
    String name,
    IoHandlerFactory handlers,
    Class<? extends ServerChannel> tcpServer,
    Class<? extends ServerChannel> unixServer,
    Function<Path, SocketAddress> address) {

  /** Native epoll where its library can be loaded, else NIO. */
  static Transport best() {
    return Epoll.isAvailable() ? epoll() : nio();
  }

  SocketAddress unixAddress(Path path) {
    return address.apply(path);
  }

  private static Transport epoll() {
    return new Transport(
        "epoll",
        EpollIoHandler.newFactory(),
        EpollServerSocketChannel.class,
        EpollServerDomainSocketChannel.class,
        path -> new DomainSocketAddress(path.toFile()));
  }

  private static Transport nio() {
    return new Transport(
        "nio",
        NioIoHandler.newFactory(),
        NioServerSocketChannel.class,
        NioServerDomainSocketChannel.class,
        UnixDomainSocketAddress::of);
  }
}

package gilscope.echo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.concurrent.atomic.LongAdder;

/** Sends back what arrives; reads no more from a peer that does not read. */
final class EchoHandler extends ChannelInboundHandlerAdapter {
  private final LongAdder echoedBytes;

  EchoHandler(LongAdder echoedBytes) {
    this.echoedBytes = echoedBytes;
  }

  /** Counted before it is sent: a client that has its answer finds it counted. */
  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    echoedBytes.add(((ByteBuf) message).readableBytes());
    context.write(message, context.voidPromise());
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    context.flush();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    context.channel().config().setAutoRead(context.channel().isWritable());
  }

  /** The peer sends no more; what is still on its way to it goes first. */
  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }
  }

  /** The peer has gone: nobody to tell. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }
}

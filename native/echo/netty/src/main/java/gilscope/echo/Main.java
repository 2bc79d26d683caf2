package gilscope.echo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.concurrent.atomic.LongAdder;

/** Echo with Netty: whatever arrives is sent back. With --child it speaks docs/child-contract.md. */
public final class Main {
  private static final int BAD_INPUT = 2;
  private static final int CANNOT_SERVE = 1;

  private Main() {}

  public static void main(String[] arguments) throws IOException {
    System.setProperty("java.net.preferIPv4Stack", "true"); // an IPv4 socket, like the other servers'
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try {
      Settings settings = Settings.read(arguments, input);
      Affinity.stayOn(settings.cpus());
      run(settings, input);
    } catch (BadInput bad) {
      System.err.println(bad.getMessage());
      end(BAD_INPUT);
    } catch (Exception failed) {
      // Netty throws checked exceptions that it does not declare, BindException for one.
      System.err.println("Cannot serve: " + failed);
      end(CANNOT_SERVE);
    }
  }

  private static void run(Settings settings, BufferedReader input) throws IOException {
    LongAdder echoedBytes = new LongAdder();
    EchoServer server = new EchoServer(settings, echoedBytes);
    String address = server.start();
    if (settings.child()) {
      new Contract(settings.messageBytes(), echoedBytes).speak(address, server.transportName(), input);
      removeSocket(settings);
      end(0);
    }
    System.err.println("echo-netty: listening on " + address);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> removeSocket(settings)));
  }

  private static void removeSocket(Settings settings) {
    try {
      if (settings.path() != null) {
        Files.deleteIfExists(settings.path());
      }
    } catch (IOException failed) {
      System.err.println("The socket file is still there: " + failed);
    }
  }

  /** The threads that serve never end by themselves, so the process ends with them. */
  private static void end(int status) {
    System.out.flush();
    System.err.flush();
    Runtime.getRuntime().halt(status);
  }
}

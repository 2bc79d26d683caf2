package gilscope.echo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.concurrent.atomic.LongAdder;

/** Echo with Netty: whatever arrives is sent back. */
public final class Main {
  private static final int BAD_FLAG = 2;
  private static final int CANNOT_SERVE = 1;

  private Main() {}

  public static void main(String[] arguments) {
    System.setProperty("java.net.preferIPv4Stack", "true"); // an IPv4 socket, like the other servers'
    try {
      run(Settings.read(arguments));
    } catch (BadFlag bad) {
      System.err.println(bad.getMessage());
      end(BAD_FLAG);
    } catch (Exception failed) {
      // Netty throws checked exceptions that it does not declare, BindException for one.
      System.err.println("Cannot serve: " + failed);
      end(CANNOT_SERVE);
    }
  }

  private static void run(Settings settings) throws IOException {
    LongAdder echoedBytes = new LongAdder();
    EchoServer server = new EchoServer(settings, echoedBytes);
    String address = server.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> removeSocket(settings)));
    say(Facts.lines(server.transportName()) + "\nlistening: " + address);
    if (settings.isControlled()) {
      answerUntilEndOfFile(echoedBytes);
      removeSocket(settings);
      end(0);
    }
  }

  private static void answerUntilEndOfFile(LongAdder echoedBytes) throws IOException {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    while (input.readLine() != null) {
      say(String.valueOf(echoedBytes.sum()));
    }
  }

  private static void say(String text) {
    System.out.println(text);
    System.out.flush();
  }

  private static void removeSocket(Settings settings) {
    try {
      if (settings.path() != null) {
        Files.deleteIfExists(settings.path());
      }
    } catch (IOException failed) {
      System.err.println("The socket file could not be removed: " + failed);
    }
  }

  /** The threads that serve never end by themselves, so the process ends with them. */
  private static void end(int status) {
    System.out.flush();
    System.err.flush();
    Runtime.getRuntime().halt(status);
  }
}

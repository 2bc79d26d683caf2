package gilscope.echo;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;

/**
 * What the server is told.
 *
 * @param child --child: everything else is in the cell on stdin
 * @param port 0 for any
 * @param path a Unix socket; null for TCP
 * @param bufferBytes SO_SNDBUF and SO_RCVBUF of each connection; 0 for the kernel's
 * @param messageBytes what counts as one request
 * @param cpus those that the process may use; empty where the kernel chooses
 */
record Settings(
    boolean child,
    String host,
    int port,
    Path path,
    int threads,
    boolean nodelay,
    int bufferBytes,
    long messageBytes,
    List<Integer> cpus) {

  static final int MOST_THREADS = 1000;

  private static final Settings DEFAULT =
      new Settings(false, "127.0.0.1", 25000, null, 1, true, 0, 1000, List.of());
  private static final String FLAGS =
      "--host, --port, --socket, --threads, --nodelay, --buffer-bytes, each with a value, or --child";

  /** From the command line, and with --child from the cell on the first line of stdin. */
  static Settings read(String[] arguments, BufferedReader input) throws BadInput, IOException {
    Settings settings = DEFAULT;
    for (Iterator<String> rest = List.of(arguments).iterator(); rest.hasNext(); ) {
      String flag = rest.next();
      if (flag.equals("--child")) {
        return Cell.settings(input.readLine(), DEFAULT);
      }
      if (!rest.hasNext()) {
        throw new BadInput("A flag", flag, FLAGS);
      }
      settings = settings.with(flag, rest.next());
    }
    return settings;
  }

  private Settings with(String flag, String value) throws BadInput {
    return switch (flag) {
      case "--host" -> new Settings(child, value, port, path, threads, nodelay, bufferBytes, messageBytes, cpus);
      case "--port" -> at(whole(flag, value, 0, 65535), path);
      case "--socket" -> at(port, Path.of(value));
      case "--threads" -> served(whole(flag, value, 1, MOST_THREADS), nodelay, bufferBytes);
      case "--nodelay" -> served(threads, truth(flag, value), bufferBytes);
      case "--buffer-bytes" -> served(threads, nodelay, whole(flag, value, 0, Integer.MAX_VALUE));
      default -> throw new BadInput("A flag", flag, FLAGS);
    };
  }

  private Settings at(int newPort, Path newPath) {
    return new Settings(child, host, newPort, newPath, threads, nodelay, bufferBytes, messageBytes, cpus);
  }

  private Settings served(int newThreads, boolean newNodelay, int newBufferBytes) {
    return new Settings(child, host, port, path, newThreads, newNodelay, newBufferBytes, messageBytes, cpus);
  }

  private static int whole(String flag, String text, int low, int high) throws BadInput {
    try {
      int number = Integer.parseInt(text);
      if (number >= low && number <= high) {
        return number;
      }
    } catch (NumberFormatException ignored) {
      // the same complaint
    }
    throw new BadInput(flag, text, "a whole number from " + low + " to " + high);
  }

  private static boolean truth(String flag, String text) throws BadInput {
    if (!text.equals("true") && !text.equals("false")) {
      throw new BadInput(flag, text, "true or false");
    }
    return text.equals("true");
  }
}

package gilscope.echo;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The command line.
 *
 * @param port 0 for any free port
 * @param path a Unix socket; null for TCP
 * @param nodelay TCP_NODELAY of each connection
 * @param bufferBytes SO_SNDBUF and SO_RCVBUF of each connection; 0 leaves them to the kernel
 * @param isControlled answer each line on stdin with the bytes echoed so far; stop at end of file
 */
record Settings(
    String host, int port, Path path, int threads, boolean nodelay, int bufferBytes, boolean isControlled) {

  private static final int MAX_PORT = 65535;
  private static final int MAX_THREADS = 1000;
  private static final String CONTROL = "--control";
  private static final Set<String> WITH_VALUE =
      Set.of("--host", "--port", "--socket", "--threads", "--nodelay", "--buffer-bytes");
  private static final String ACCEPTED =
      "--host, --port, --socket, --threads, --nodelay or --buffer-bytes with a value, or --control";

  static Settings read(String[] arguments) throws BadFlag {
    Map<String, String> flags = flags(arguments);
    return new Settings(
        flags.getOrDefault("--host", "127.0.0.1"),
        integer(flags, "--port", 0, MAX_PORT, 25000),
        flags.containsKey("--socket") ? Path.of(flags.get("--socket")) : null,
        integer(flags, "--threads", 1, MAX_THREADS, 1),
        bool(flags, "--nodelay", true),
        integer(flags, "--buffer-bytes", 0, Integer.MAX_VALUE, 0),
        flags.containsKey(CONTROL));
  }

  private static Map<String, String> flags(String[] arguments) throws BadFlag {
    Map<String, String> flags = new HashMap<>();
    for (Iterator<String> rest = List.of(arguments).iterator(); rest.hasNext(); ) {
      String flag = rest.next();
      if (flag.equals(CONTROL)) {
        flags.put(flag, "true");
      } else if (WITH_VALUE.contains(flag) && rest.hasNext()) {
        flags.put(flag, rest.next());
      } else {
        throw new BadFlag("A flag", flag, ACCEPTED);
      }
    }
    return flags;
  }

  private static int integer(Map<String, String> flags, String flag, int low, int high, int otherwise)
      throws BadFlag {
    String text = flags.get(flag);
    if (text == null) {
      return otherwise;
    }
    try {
      int number = Integer.parseInt(text);
      if (number >= low && number <= high) {
        return number;
      }
    } catch (NumberFormatException ignored) {
      // refused below, like a number out of range
    }
    throw new BadFlag(flag, text, "a whole number from " + low + " to " + high);
  }

  private static boolean bool(Map<String, String> flags, String flag, boolean otherwise) throws BadFlag {
    String text = flags.getOrDefault(flag, String.valueOf(otherwise));
    if (!text.equals("true") && !text.equals("false")) {
      throw new BadFlag(flag, text, "true or false");
    }
    return text.equals("true");
  }
}

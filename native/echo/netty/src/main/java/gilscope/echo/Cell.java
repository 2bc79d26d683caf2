package gilscope.echo;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The first line of stdin. Source: docs/child-contract.md, "What a service is told". */
final class Cell {
  private Cell() {}

  /** The settings in a line; a parameter that is absent or null has that of *otherwise*. */
  static Settings settings(String line, Settings otherwise) throws BadInput {
    try {
      return settings(JsonParser.parseString(line == null ? "" : line).getAsJsonObject(), otherwise);
    } catch (RuntimeException bad) { // Gson throws half a dozen kinds
      throw new BadInput("The first line of standard input", line + " (" + bad + ")", "a cell, a JSON object");
    }
  }

  private static Settings settings(JsonObject cell, Settings otherwise) throws BadInput {
    JsonObject params = cell.getAsJsonObject("params");
    JsonElement nodelay = params.get("NODELAY");
    return new Settings(
        true,
        otherwise.host(),
        0,
        path(cell, params),
        whole(params, "NUM_SERVER_THREADS", 1, Settings.MOST_THREADS, otherwise.threads()),
        isGiven(nodelay) ? truth("NODELAY", nodelay) : otherwise.nodelay(),
        whole(params, "BUFFER_BYTES", 0, Integer.MAX_VALUE, otherwise.bufferBytes()),
        whole(params, "MESSAGE_BYTES", 1, Integer.MAX_VALUE, (int) otherwise.messageBytes()),
        cpus(cell));
  }

  /** The Unix socket, also where no TRANSPORT is given; null for TCP. */
  private static Path path(JsonObject cell, JsonObject params) throws BadInput {
    JsonElement given = params.get("TRANSPORT");
    String transport = isGiven(given) ? given.getAsString() : "unix";
    if (transport.equals("tcp")) {
      return null;
    }
    if (!transport.equals("unix") || !cell.has("folder")) {
      throw new BadInput("TRANSPORT", transport, "tcp, or unix in a cell that has a folder");
    }
    int serviceId = cell.has("service_id") ? cell.get("service_id").getAsInt() : 0;
    return Path.of(cell.get("folder").getAsString(), serviceId + ".0");
  }

  private static int whole(JsonObject params, String name, int low, int high, int otherwise)
      throws BadInput {
    JsonElement given = params.get(name);
    if (!isGiven(given)) {
      return otherwise;
    }
    double number = given.getAsDouble();
    if (number != Math.rint(number) || number < low || number > high) {
      throw new BadInput(name, given.toString(), "a whole number from " + low + " to " + high);
    }
    return (int) number;
  }

  private static boolean truth(String name, JsonElement given) throws BadInput {
    if (!given.isJsonPrimitive() || !given.getAsJsonPrimitive().isBoolean()) {
      throw new BadInput(name, given.toString(), "true or false");
    }
    return given.getAsBoolean();
  }

  private static List<Integer> cpus(JsonObject cell) {
    List<Integer> cpus = new ArrayList<>();
    if (cell.has("cpus")) {
      cell.getAsJsonArray("cpus").forEach(cpu -> cpus.add(cpu.getAsInt()));
    }
    return cpus;
  }

  private static boolean isGiven(JsonElement element) {
    return element != null && !element.isJsonNull();
  }
}

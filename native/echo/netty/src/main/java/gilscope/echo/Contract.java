package gilscope.echo;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;

/** The words that a service is told after its cell, and what it says. Source: docs/child-contract.md. */
final class Contract {
  private final long messageBytes;
  private final LongAdder echoedBytes;
  private long startBytes;
  private Usage start;

  Contract(long messageBytes, LongAdder echoedBytes) {
    this.messageBytes = messageBytes;
    this.echoedBytes = echoedBytes;
  }

  /** Say ready, answer `reset`, and say the result at end of file. */
  void speak(String address, String transport, BufferedReader input) throws IOException {
    countFromNought();
    sayReady(address, transport);
    for (String word = input.readLine(); word != null; word = input.readLine()) {
      if (word.strip().equals("reset")) {
        countFromNought();
        JsonObject done = new JsonObject();
        done.addProperty("reset", true);
        say(done);
      }
    }
    sayResult();
  }

  private void countFromNought() throws IOException {
    startBytes = echoedBytes.sum();
    start = Usage.now();
  }

  private static void sayReady(String address, String transport) throws IOException {
    JsonArray addresses = new JsonArray();
    addresses.add(address);
    JsonObject runtime = Build.facts(transport);
    runtime.addProperty("gil_enabled", false);
    JsonObject ready = new JsonObject();
    ready.addProperty("ready", true);
    ready.addProperty("pid", ProcessHandle.current().pid());
    ready.add("addresses", addresses);
    ready.add("runtime", runtime);
    say(ready);
  }

  private void sayResult() throws IOException {
    JsonObject result = Usage.now().since(start);
    long counted = echoedBytes.sum() - startBytes;
    result.addProperty("requests", counted / messageBytes);
    result.addProperty("echoed_bytes", counted);
    result.addProperty("gil_enabled_ready", false);
    result.addProperty("gil_enabled_end", false);
    JsonObject line = new JsonObject();
    line.add("result", result);
    say(line);
  }

  private static void say(JsonObject message) {
    System.out.println(message);
    System.out.flush();
  }
}

package gilscope.echo;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What the operating system has counted for this process. CPU time is that of all threads, also of those that have
 * ended, in steps of 10 ms; switches and waits are those of the threads there are.
 *
 * <p>Source: proc_pid_stat(5), proc_pid_status(5), Linux' Documentation/scheduler/sched-stats.rst.
 */
record Usage(long userNs, long systemNs, Map<String, Waits> threads) {
  private static final Path SELF = Path.of("/proc/self");
  private static final long TICK_NS = 10_000_000; // USER_HZ is 100

  /** Of one thread. */
  private record Waits(long voluntary, long involuntary, long runQueueNs) {
    static final Waits NONE = new Waits(0, 0, 0);

    Waits plus(Waits other, int sign) {
      return new Waits(
          voluntary + sign * other.voluntary,
          involuntary + sign * other.involuntary,
          runQueueNs + sign * other.runQueueNs);
    }
  }

  static Usage now() throws IOException {
    // The name, in parentheses, may hold blanks; user time is the 14th field, the 12th behind the name.
    String stat = Files.readString(SELF.resolve("stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return new Usage(Long.parseLong(fields[11]) * TICK_NS, Long.parseLong(fields[12]) * TICK_NS, threadsNow());
  }

  /** As the result of a service: what counts up from *start*, memory of the process as it is. */
  JsonObject since(Usage start) throws IOException {
    Waits waited = Waits.NONE;
    for (Map.Entry<String, Waits> one : threads.entrySet()) {
      waited = waited.plus(one.getValue(), 1).plus(start.threads.getOrDefault(one.getKey(), Waits.NONE), -1);
    }
    JsonObject result = new JsonObject();
    result.addProperty("cpu_user_ns", userNs - start.userNs);
    result.addProperty("cpu_system_ns", systemNs - start.systemNs);
    result.addProperty("voluntary_switches", waited.voluntary());
    result.addProperty("involuntary_switches", waited.involuntary());
    result.addProperty("run_queue_ns", waited.runQueueNs());
    result.addProperty("max_rss_bytes", number(SELF.resolve("status"), "VmHWM:") * 1024);
    result.addProperty("pss_bytes", number(SELF.resolve("smaps_rollup"), "Pss:") * 1024);
    return result;
  }

  private static Map<String, Waits> threadsNow() throws IOException {
    Map<String, Waits> threads = new HashMap<>();
    List<Path> folders;
    try (Stream<Path> listed = Files.list(SELF.resolve("task"))) {
      folders = listed.toList();
    }
    for (Path folder : folders) {
      threads.put(folder.getFileName().toString(), waits(folder));
    }
    return threads;
  }

  private static Waits waits(Path thread) throws IOException {
    try {
      Path status = thread.resolve("status");
      String[] schedstat = Files.readString(thread.resolve("schedstat")).split(" ");
      return new Waits(
          number(status, "voluntary_ctxt_switches:"),
          number(status, "nonvoluntary_ctxt_switches:"),
          Long.parseLong(schedstat[1]));
    } catch (NoSuchFileException ended) {
      return Waits.NONE;
    }
  }

  /** The number behind *key* in a file of lines like `VmHWM:   24342 kB`; 0 where there is none. */
  private static long number(Path file, String key) throws IOException {
    if (!Files.isReadable(file)) {
      return 0;
    }
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith(key)) {
        return Long.parseLong(line.substring(key.length()).strip().split(" ")[0]);
      }
    }
    return 0;
  }
}

package gilscope.echo;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;

/** Which CPUs the process runs on. Java has no call for it, so taskset (util-linux) is asked. */
final class Affinity {
  private Affinity() {}

  /** Move all threads there are to *cpus*; those that they start inherit it. None: wherever the kernel likes. */
  static void stayOn(List<Integer> cpus) throws BadInput, IOException, InterruptedException {
    if (cpus.isEmpty()) {
      return;
    }
    String list = cpus.stream().map(String::valueOf).collect(Collectors.joining(","));
    String pid = String.valueOf(ProcessHandle.current().pid());
    Process taskset =
        new ProcessBuilder("taskset", "-a", "-c", "-p", list, pid)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    if (taskset.waitFor() != 0) {
      throw new BadInput("cpus", list, "numbers of CPUs that this process may use");
    }
  }
}

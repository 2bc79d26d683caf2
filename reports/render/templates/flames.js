// Flame graphs, drawn by d3-flame-graph: what a thread did has a colour, and in a difference more is red and less is blue.
(function () {
  "use strict";
  const STATES = { "[lock]": "#d55e00", "[gil]": "#cc79a7", "[io]": "#56b4e9", "[ready]": "#f0e442", "[run]": "#009e73" };

  function steepest(part) {
    return Math.max(Math.abs(part.delta), ...part.children.map(steepest));
  }

  function byDelta(tree) {
    const most = steepest(tree) || 1;
    return (part) => {
      const pale = Math.round(240 - 170 * Math.abs(part.data.delta) / most);
      return part.data.delta > 0 ? `rgb(240,${pale},${pale})` : `rgb(${pale},${pale},240)`;
    };
  }

  function byState(part, colour) {
    return STATES[part.data.name] || colour;
  }

  function label(part) {
    const share = `${part.data.name} (${(100 * (part.x1 - part.x0)).toFixed(1)} %`;
    return part.data.delta === undefined ? `${share})` : `${share}, ${(100 * part.data.delta).toFixed(1)} points)`;
  }

  document.querySelectorAll(".flame").forEach((place) => {
    const tree = JSON.parse(place.nextElementSibling.textContent);
    const chart = flamegraph().width(place.clientWidth || 900).cellHeight(17).minFrameSize(2).transitionDuration(0).sort(true)
      .label(label).setColorMapper(place.classList.contains("difference") ? byDelta(tree) : byState);
    d3.select(place).datum(tree).call(chart);
  });
})();

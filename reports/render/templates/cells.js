// Unfold what a link leads to. The table of cells: sort by its heads, filter by text and choices, show a figure's cells.
(function () {
  "use strict";
  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) { return; }
    for (let one = target.querySelector(":scope > details") || target; one; one = one.parentElement) {
      if (one.tagName === "DETAILS") { one.open = true; }
    }
  }
  window.addEventListener("hashchange", unfold);
  unfold();
  const table = document.getElementById("cell-table");
  if (!table) { return; }
  const body = table.tBodies[0];
  const lines = Array.from(body.rows);
  const words = document.getElementById("filter-text");
  const choices = Array.from(document.querySelectorAll("#filters select"));
  const count = document.getElementById("filter-count");
  const texts = lines.map((line) => line.textContent.toLowerCase());
  let groups = [];

  function isIn(line) {
    return groups.length === 0 || groups.some((one) => line.id.startsWith(one));
  }

  function fits(line, text) {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    return isIn(line) && wanted.every((word) => text.includes(word)) &&
      choices.every((choice) =>
        choice.value === "" || line.cells[Number(choice.dataset.column)].textContent.trim() === choice.value);
  }

  function filter() {
    let shown = 0;
    lines.forEach((line, place) => {
      line.hidden = !fits(line, texts[place]);
      shown += line.hidden ? 0 : 1;
    });
    count.textContent = count.dataset.template.replace("{shown}", shown).replace("{all}", lines.length);
  }

  function valueOf(line, column) {
    const cell = line.cells[column];
    const text = cell.textContent.trim();
    const number = Number(cell.dataset.raw || text.replace(/,/g, ""));
    return text === "" ? null : Number.isNaN(number) || column === 0 ? text : number;
  }

  function compare(one, other) {
    if (typeof one === "number" && typeof other === "number") { return one - other; }
    return String(one).localeCompare(String(other), undefined, { numeric: true });
  }

  function sort(column, head) {
    const down = head.getAttribute("aria-sort") === "ascending";
    Array.from(table.tHead.rows[0].cells).forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = Array.from(body.rows).map((line) => [valueOf(line, column), line]);
    const known = keyed.filter(([value]) => value !== null);
    known.sort(([one], [other]) => (down ? -1 : 1) * compare(one, other));
    body.append(...known.map(([, line]) => line), ...keyed.filter(([value]) => value === null).map(([, line]) => line));
  }

  function show(names) {
    document.getElementById("filters").reset();
    groups = names.split(" ").map((name) => "cell-" + name + "-");
    filter();
    document.querySelectorAll("details:has(#cell-table)").forEach((one) => { one.open = true; });
    document.getElementById("cells").scrollIntoView();
    document.getElementById("filter-clear").focus({ preventScroll: true });
  }

  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => sort(column, head));
  });
  [words, ...choices].forEach((input) => input.addEventListener("input", filter));
  document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("filters").addEventListener("reset", () => {
    groups = [];
    setTimeout(filter);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-show], a[data-cells]");
    if (link) {
      event.preventDefault();
      show(link.dataset.show || link.dataset.cells);
    }
  });
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((one) => { one.dataset.was = one.open; one.open = true; });
  });
  window.addEventListener("afterprint", () => {
    document.querySelectorAll("details").forEach((one) => { one.open = one.dataset.was === "true"; });
  });
})();

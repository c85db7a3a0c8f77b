"use strict";
(() => {
  const root = document.documentElement;
  const said = document.getElementById("said");

  // The theme lives in this page alone: nothing is stored.
  const themes = ["system", "light", "dark"];
  let theme = 0;
  const toggle = document.getElementById("theme");
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    theme = (theme + 1) % themes.length;
    if (theme === 0) delete root.dataset.theme;
    else root.dataset.theme = themes[theme];
    toggle.textContent = "Theme: " + themes[theme];
  });

  // Cells with data-none are empty and stay below, whichever way the rest is sorted.
  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const compare = (one, other) => {
    const [a, b] = [one.dataset.k, other.dataset.k];
    if (a !== undefined && b !== undefined) return Number(a) - Number(b);
    if (a !== undefined || b !== undefined) return a !== undefined ? -1 : 1;
    return order.compare(one.textContent, other.textContent);
  };
  const sort = (button) => {
    const head = button.closest("th");
    const table = head.closest("table");
    const index = head.cellIndex;
    const first = "down" in button.dataset ? "descending" : "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    const way = head.getAttribute("aria-sort") === first ? second : first;
    const sign = way === "ascending" ? 1 : -1;
    for (const other of head.parentElement.cells) {
      if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    }
    head.setAttribute("aria-sort", way);
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row, place) => ({ row, place, cell: row.cells[index] }));
    rows.sort((one, other) => {
      const [none, none2] = ["none" in one.cell.dataset, "none" in other.cell.dataset];
      if (none !== none2) return none ? 1 : -1;
      return sign * compare(one.cell, other.cell) || one.place - other.place;
    });
    body.append(...rows.map((one) => one.row));
    said.textContent = "Sorted by " + button.textContent + ", " + way;
  };
  for (const button of document.querySelectorAll("thead button")) {
    button.addEventListener("click", () => sort(button));
  }

  // A link to a part unfolds it.
  const unfold = () => {
    const part = location.hash && document.getElementById(location.hash.slice(1));
    const details = part && part.querySelector(":scope > details.part");
    if (details) details.open = true;
  };
  addEventListener("hashchange", unfold);
  for (const link of document.querySelectorAll("nav a")) link.addEventListener("click", () => setTimeout(unfold));
  unfold();

  // Paper cannot be unfolded.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details.part:not([open]), details.legend:not([open])")];
    for (const one of unfolded) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of unfolded) one.open = false;
  });
})();

/* What the HTML report can do beyond being read: sort and filter tables, and select a buffer in table and map at once. */
"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const byId = (id) => document.getElementById(id);

  /* ---- Sorting: a button in each head; numbers largest first, a dash last */

  const numberOf = (text) => (/^[\d,]+$/.test(text) ? Number(text.replaceAll(",", "")) : -1);

  function sort(table, column, head) {
    const isNumber = table.classList.contains(`n${column + 1}`);
    const was = head.getAttribute("aria-sort");
    const isDown = was ? was === "ascending" : isNumber;
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row, index) => {
      const text = row.cells[column].textContent;
      return { row, index, key: isNumber ? numberOf(text) : text.toLowerCase() };
    });
    const order = (a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
    rows.sort((a, b) => (isDown ? order(b, a) : order(a, b)) || a.index - b.index);
    body.append(...rows.map((entry) => entry.row));
    all("th[aria-sort]", table.tHead).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
  }

  all("table.sorts").forEach((table) => {
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, column, head));
      head.append(button);
    });
  });

  /* ---- The table of buffers: columns by their heads */

  const table = byId("t-buffers");
  const column = Object.fromEntries(Array.from(table.tHead.rows[0].cells, (cell, k) => [cell.textContent, k]));
  const rows = Array.from(table.tBodies[0].rows);
  const textOf = (row, name) => row.cells[column[name]].textContent;

  /* ---- Filtering */

  const form = byId("filter");

  function filter() {
    const text = byId("f-text").value.trim().toLowerCase();
    const kind = byId("f-kind").value;
    const memory = byId("f-memory").value;
    const step = byId("f-step").value;
    const isAlive = (row) => numberOf(textOf(row, "first")) <= step && step < numberOf(textOf(row, "last"));
    let shown = 0;
    rows.forEach((row) => {
      row.hidden = !(
        (text === "" || `${textOf(row, "name")}\n${textOf(row, "operator")}`.toLowerCase().includes(text)) &&
        (kind === "" || textOf(row, "kind") === kind) &&
        (memory === "" || textOf(row, "memory") === memory) &&
        (step === "" || isAlive(row))
      );
      shown += row.hidden ? 0 : 1;
    });
    byId("f-count").value = `${shown} of ${rows.length} shown`;
  }

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  filter();

  /* ---- Selecting: row #b3 and rectangle #m3 */

  const rects = all("#storages > a");

  function describe(row) {
    const name = textOf(row, "name") || "workspace";
    return (
      `${textOf(row, "id")} ${name}: ${textOf(row, "kind")}, ${textOf(row, "physical")} bytes at ` +
      `${textOf(row, "offset")} of ${textOf(row, "memory")}, steps ${textOf(row, "first")} to before ` +
      `${textOf(row, "last")}`
    );
  }

  /* The rectangle of a row is the one that its id leads to: that of the storage. */
  function rectOf(row) {
    const link = row && row.cells[column.id].querySelector("a");
    return link ? byId(link.getAttribute("href").slice(1)) : null;
  }

  function select(row, rect) {
    all("tr.chosen, #storages a.chosen").forEach((other) => {
      other.classList.remove("chosen");
      other.removeAttribute("aria-current");
    });
    [row, rect].forEach((chosen) => {
      if (chosen) {
        chosen.classList.add("chosen");
        chosen.setAttribute("aria-current", "true");
      }
    });
    if (rect) {
      rects.forEach((other) => other.setAttribute("tabindex", other === rect ? "0" : "-1"));
    }
    const selected = byId("selected");
    if (selected) {
      selected.textContent = row ? describe(row) : rect ? rect.querySelector("title").textContent : "";
    }
  }

  const selectRect = (rect) => select(byId(`b${rect.id.slice(1)}`), rect);
  const clear = () => select(null, null);

  table.tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row && !event.target.closest("a")) {
      select(row, rectOf(row));
    }
  });

  function follow() {
    const target = byId(location.hash.slice(1));
    if (!target) {
      return;
    }
    if (target.matches("#t-buffers tr")) {
      target.hidden = false;
      select(target, rectOf(target));
    } else if (target.matches("#storages > a")) {
      selectRect(target);
      target.focus();
    } else if (target.id === "peak") {
      target.focus();
    }
  }

  window.addEventListener("hashchange", follow);
  follow();

  /* ---- The map: one stop of the keyboard; arrows go on, Home and End to the ends, Enter to the row */

  function move(event) {
    const at = rects.indexOf(event.target.closest("a"));
    const last = rects.length - 1;
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last };
    if (at < 0 || !(event.key in to)) {
      return;
    }
    event.preventDefault();
    rects[Math.min(Math.max(to[event.key], 0), last)].focus();
  }

  rects.forEach((rect) => {
    rect.addEventListener("focus", () => selectRect(rect));
    rect.addEventListener("keydown", move);
  });
  if (rects.length > 0 && !rects.some((rect) => rect.getAttribute("tabindex") === "0")) {
    rects[0].setAttribute("tabindex", "0");
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      clear();
    }
  });
})();

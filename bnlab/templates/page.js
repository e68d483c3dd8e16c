for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const numeric = body.rows.length > 0 && "value" in body.rows[0].cells[column].dataset;
    const falls = head.getAttribute("aria-sort") === "descending" ||
      (!numeric && head.getAttribute("aria-sort") !== "ascending");
    const sign = falls ? 1 : -1;
    const rows = [...body.rows].sort((a, b) => sign * (numeric ? key(a) - key(b)
      : key(a).localeCompare(key(b), undefined, {numeric: true})));
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls ? "ascending" : "descending");
    body.append(...rows);
  });
}
for (const box of document.querySelectorAll("figure .scroll")) {
  const drawn = box.querySelector("[data-root-id]");
  if (!drawn) continue;
  const fit = () => {  // a picture wider than the screen is scrolled, by touch as well
    const wide = Math.max(0, ...[...drawn.children].map(child => child.offsetWidth));
    drawn.style.pointerEvents = wide > box.clientWidth ? "none" : "";
  };
  new ResizeObserver(fit).observe(box);
  new MutationObserver(fit).observe(drawn, {childList: true});
}

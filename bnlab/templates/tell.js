
const place = view => view.el.closest(".bnlab-live, figure.film");
const named = ({tooltips: [[, text]]}, {data}, i) => text
  .replace(/@(\w+)/g, (_, of) => data[of][i])
  .replace("⇝", "→").replace(/ = .*/, "");
const drawn = ({model}) => model.toolbar.tools.filter(tool => tool.callback)
  .flatMap(tool => tool.renderers.map(each => [tool, each, each.data_source]));
const views = [...cb_context.index.roots].filter(view => view.model.toolbar);
const here = views.find(view => view.model.toolbar.tools.includes(cb_obj));
const names = new Set(drawn(here).flatMap(([tool, each, source]) =>
  (each.get_selection_manager().inspectors.get(each)?.indices ?? [])
    .map(i => named(tool, source, i))));
for (const view of views) {
  if (view === here || !place(view) || place(view) !== place(here)) continue;
  for (const [tool, each, source] of drawn(view)) {
    const rows = Array.from({length: source.get_length() ?? 0}, (_, i) => i);
    const indices = rows.filter(i => names.has(named(tool, source, i)));
    if (String(indices) === String(source.inspected.indices)) continue;
    source.setv({inspected: new source.inspected.constructor({indices})}, {silent: true});
    source.inspect.emit([each, {geometry: {}}]);
  }
}

const pen = document.createElement("canvas").getContext("2d");
for (const film of document.querySelectorAll("figure.film")) {
  const {widget, controls, panels, tracks, begin, ...of} =
    JSON.parse(film.querySelector("script").textContent);
  const inputs = [...film.querySelectorAll("input, select")];
  const captions = film.querySelectorAll("[role=status]");
  const shown = tracks.map(track => track.frames[begin]);
  const number = value => Array.isArray(value) ? value.map(number) : value ?? NaN;
  const full = {};
  let models, views, asked = false;

  const draw = () => {
    asked = false;
    const frame = controls.reduce((at, {stops}, i) => at * stops.length + Number(inputs[i].value), 0);
    panels.forEach((panel, i) => {
      const text = panel.captions[frame];
      if (captions[i].textContent !== text) captions[i].textContent = text;
    });
    const moved = new Map();
    tracks.forEach(({model, property, column, values, frames}, i) => {
      if (shown[i] === frames[frame]) return;
      shown[i] = frames[frame];
      const value = values[shown[i]], new_ = moved.get(model) ?? {};
      moved.set(model, new_);
      if (property !== "data") new_[property] = value;
      else (new_.data ??= {...models.get_model_by_id(model).data})[column] = number(value);
    });
    for (const [model, values] of moved) models.get_model_by_id(model).setv(values);
  };
  const ask = () => {
    inputs.forEach((input, i) => {
      const stop = controls[i].stops[input.value], {nextElementSibling: output} = input;
      if (output?.tagName !== "OUTPUT") return;
      output.textContent = stop;
      input.setAttribute("aria-valuetext", stop);
    });
    if (models && !asked) requestAnimationFrame(draw, asked = true);
  };

  inputs.forEach((input, i) => {
    const button = input.parentNode.querySelector("button");
    let clock;
    const stop = () => {
      clearInterval(clock);
      clock = undefined;
      for (const caption of captions) caption.ariaLive = null;
      if (button) button.textContent = "Play";
    };
    const step = () => {
      if (input.value === input.max) return stop();
      input.value++;
      ask();
    };
    input.addEventListener("input", () => { stop(); ask(); });
    button?.addEventListener("click", () => {
      if (clock) return stop();
      if (input.value === input.max) input.value = -1;
      clock = setInterval(step, 700);
      for (const caption of captions) caption.ariaLive = "off";
      button.textContent = "Pause";
      step();
    });
  });

  // In a narrow window pictures with axes lose width, diagrams shrink with their texts.
  const fit = (root, box) => {
    const plot = models.get_model_by_id(root), was = full[root] ??= {
      width: plot.width, height: plot.height, wide: plot.frame_width, high: plot.frame_height,
      texts: plot.renderers.map(each => each.glyph).filter(each => "text_font_size" in each)
        .map(glyph => [glyph, parseFloat(glyph.text_font_size.value)]),
    };
    const width = Math.min(was.width, box.clientWidth);
    if (width === plot.width) return;
    const share = was.wide === null ? 1 : (was.wide - was.width + width) / was.wide;
    const diagram = !plot.below[0].visible, high = diagram ? share * was.high : was.high;
    plot.setv(was.wide === null ? {width} : {width, height: was.height - was.high + high,
      frame_width: share * was.wide, frame_height: high});
    for (const [glyph, size] of diagram ? was.texts : [])
      glyph.text_font_size = {value: `${Math.max(Math.min(size, 8), share * size)}px`};
    for (const {ticker} of plot.below)
      if (ticker?.desired_num_ticks) ticker.desired_num_ticks = width < 0.85 * was.width ? 4 : 6;
    const left = views.get_by_id(root)?.frame?.bbox.left ?? 0;
    pen.font = "bold 14px Helvetica, Arial, sans-serif";
    const end = was.wide === null ? width : Math.min(width, left + share * was.wide + 8);
    const room = end - 8, needed = pen.measureText(plot.title.text).width;
    plot.title.setv({offset: needed > room - left ? 4 - left : 0,
      text_font_size: `${Math.min(14, 14 * room / needed)}px`});
  };

  const roots = Object.fromEntries(panels.map(({root}) => [root, root]));
  const item = {docid: widget, roots, root_ids: Object.keys(roots)};
  Bokeh.embed.embed_items({[widget]: of.document}, [item]).then(([shown]) => {
    views = shown;
    models = Bokeh.documents.find(each => each.get_model_by_id(panels[0].root));
    ask();
    for (const {root} of panels) {
      const box = document.getElementById(root).parentNode;
      new ResizeObserver(() => fit(root, box)).observe(box);
    }
  });
}

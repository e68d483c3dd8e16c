{# JupyterLab leaves the keys to lists and choices, and does not go to another cell at an arrow. #}

addEventListener("focusin", ({target}) =>
    target.matches(".{{ live }} select, .{{ live }} [type=radio]") &&
    target.setAttribute("data-lm-suppress-shortcuts", "true"));
{# Screen readers say what a slider is and where it stands, not the number of its stop; the buttons
of Play have names. Jupyter's widgets have neither. #}

window.bnlab ??= new MutationObserver(() => {
    const give = (part, what, value) =>
        part && part.getAttribute(what) !== value && part.setAttribute(what, value);
    for (const slider of document.querySelectorAll(".{{ live }} .widget-slider")) {
        const text = of => slider.querySelector(of)?.textContent ?? "";
        const handle = slider.querySelector(".noUi-handle");
        give(handle, "aria-label", text(".widget-label"));
        give(handle, "aria-valuetext", text(".widget-readout"));
    }
    for (const {children} of document.querySelectorAll(".{{ live }} .widget-play"))
        ["Play or pause", "Stop, back to the first", "Play again and again"]
            .forEach((name, i) => give(children[i], "title", name));
});
window.bnlab.observe(document.body,
    {childList: true, subtree: true, attributeFilter: ["aria-valuetext"]});
{# Pages do not tell the kernel what it has told them, nor how large a picture has become: with
jupyter_bokeh they do, which takes time, and an old change can come after a new one. A picture of a
widget does not look for styles of each label in the page (bokeh/bokeh#15286). It takes new data and
looks once for all changes of a message, and is laid out when it is painted next. Until it is, style
sheets wait, lest all styles be computed between two strokes; those that stay the same, for good.
Glyphs for rows that are pointed at, chosen or muted take data when they are drawn, not before. A
canvas is measured with its picture, and the font size before styles change: each look at the page
after a change lays it out. The colours of a bar are drawn once. #}

(function quicken() {
    const {Document} = window.Bokeh?.require("document") ?? {};
    if (!Document) return setTimeout(quicken, 100);
    const change = (of, name, made) => of[name]?.name === name && (of[name] = made(of[name]));
    change(Document.prototype, "_trigger_on_change", tell => function (event) {
        (event.events ?? [event]).filter(({kind, sync, attr}) => kind !== "ModelChanged" ||
            sync && !/^(inner|outer)_/.test(attr)).forEach(each => tell.call(this, each));
    });
    const looks = Bokeh.require("core/visuals/visual").VisualProperties.prototype;
    change(looks, "_get_css_value", look => function (name) {
        return this.obj.root.el.closest(".{{ live }}") ? "" : look.call(this, name);
    });
    const drawn = Bokeh.require("models/renderers/glyph_renderer").GlyphRendererView.prototype;
    change(drawn, "update_data", update => function (rows) {
        const all = () => { this.updating = null; return update.call(this); };
        return rows ? update.call(this, rows) : this.updating ??= Promise.resolve().then(all);
    });
    const idle = new Proxy({}, {get: () => () => undefined});
    const alone = {get: (view, name) => /._glyph$/.test(name) ? idle : view[name]};
    for (const name of ["set_data", "set_visuals", "map_data"])
        change(drawn, name, step => function (...given) {
            return step.apply(new Proxy(this, alone), given);
        });
    const glyphs = Bokeh.require("models/glyphs/glyph").GlyphView.prototype;
    change(glyphs, "paint", paint => function (...given) {
        if (this.base) {
            const {all_indices, model: {data_source}} = this.renderer;
            this.set_data(data_source, all_indices);
            this.set_visuals(data_source, all_indices);
            this.after_visuals();
            this.map_data();
        }
        return paint.apply(this, given);
    });
    change(drawn, "_update_masked_indices", () => function () {
        this.model.view.setv({masked: this.glyph.mask_data()}, {silent: true});
        return this.model.view.masked;
    });
    const pictures = Bokeh.require("models/plots/plot_canvas").PlotView.prototype;
    change(pictures, "invalidate_layout", lay => function () {
        if (!this.is_layout_root || !this._layout_computed) return lay.call(this);
        this.resized = true;
        this.request_layout(true);
    });
    change(pictures, "_invalidate_layout_if_needed", ready => function () {
        if (this.resized) {
            this.base_font_size;
            this.update_layout();
        }
        this.resized = false;
        ready.call(this);
    });
    change(pictures, "update_bbox", measure => function () {
        const changed = measure.call(this);
        this.canvas_view.changed ||= this.canvas_view._update_bbox();
        return changed;
    });
    const canvases = Bokeh.require("models/canvas/canvas").CanvasView.prototype;
    change(canvases, "update_bbox", () => function () {
        const changed = this.changed ?? this._update_bbox();
        this.changed = false;
        return changed;
    });
    const bars = Bokeh.require("models/annotations/color_bar").ColorBarView.prototype;
    change(bars, "_set_canvas_image", draw => function () {
        const {color_mapper: {palette}, orientation, _index_low, _index_high} = this;
        const look = [palette, orientation, _index_low, _index_high].join();
        if (look !== this.look) draw.call(this);
        this.look = look;
    });
    let late = null;
    change(pictures, "_paint_primary", paint => function (context) {
        const sheets = late = new Map();
        try { paint.call(this, context); } finally { late = null; }
        sheets.forEach((css, sheet) => sheet._update(css));
    });
    change(Bokeh.require("core/dom").InlineStyleSheet.prototype, "_update", put => function (css) {
        if (late) late.set(this, css);
        else if (css !== this.css) put.call(this, css);
    });
    const size = Object.getOwnPropertyDescriptor(pictures, "base_font_size")?.get;
    if (size?.name === "get base_font_size")
        Object.defineProperty(pictures, "base_font_size", {get: function once() {
            if (!this.sized) queueMicrotask(() => { this.sized = null; });
            return (this.sized ??= [size.call(this)])[0];
        }});
})();

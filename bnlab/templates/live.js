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
{# Pages do not tell the kernel what it has told them, nor how large a picture has become. With
jupyter_bokeh they do, which takes time, and an old change can come after a new one. A picture looks
a style or a size of letters up once while it draws, not for every label (bokeh/bokeh#15286), and is
laid out when it is painted next, not at once for each width and height that changes. #}

(function quicken() {
    const {Document} = window.Bokeh?.require("document") ?? {};
    if (!Document) return setTimeout(quicken, 100);
    const tell = Document.prototype._trigger_on_change;
    if (tell?.name === "_trigger_on_change")
        Document.prototype._trigger_on_change = function told(event) {
            for (const each of event.events ?? [event])
                if (each.kind !== "ModelChanged" ||
                    each.sync && !/^(inner|outer)_/.test(each.attr)) tell.call(this, each);
        };
    const looks = Bokeh.require("core/visuals/visual").VisualProperties.prototype;
    const look = looks._get_css_value;
    if (look?.name === "_get_css_value")
        looks._get_css_value = function once(name) {
            if (!this.seen) queueMicrotask(() => { this.seen = null; });
            this.seen ??= {};
            return this.seen[name] ??= look.call(this, name);
        };
    const pictures = Bokeh.require("models/plots/plot_canvas").PlotView.prototype;
    const {invalidate_layout: lay, _invalidate_layout_if_needed: ready} = pictures;
    if (ready?.name === "_invalidate_layout_if_needed") {
        pictures.invalidate_layout = function later() {
            if (!this.is_layout_root || !this._layout_computed) return lay.call(this);
            this.resized = true;
            this.request_layout(true);
        };
        pictures._invalidate_layout_if_needed = function laid() {
            if (this.resized) this.update_layout();
            this.resized = false;
            ready.call(this);
        };
    }
    const size = Object.getOwnPropertyDescriptor(pictures, "base_font_size")?.get;
    if (size?.name === "get base_font_size")
        Object.defineProperty(pictures, "base_font_size", {get: function once() {
            if (!this.sized) queueMicrotask(() => { this.sized = null; });
            return (this.sized ??= [size.call(this)])[0];
        }});
})();

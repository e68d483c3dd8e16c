// Screen readers say what the buttons of the navigation open; the theme gives them no names.
addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("details > summary:has(.toctree-toggle)"))
        button.setAttribute("aria-label", "Names in this package");
});

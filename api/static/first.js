// Runs before the first paint, so that nothing flashes: restores the theme and the sidebar that this person chose.
(() => {
  const page = document.documentElement.dataset;
  page.view = location.pathname.slice(1); // "shared": a conversation that is only read
  try { Object.assign(page, { theme: localStorage.theme ?? "system", shelf: localStorage.shelf ?? "open" }); } catch { page.shelf = "open"; } // storage may be forbidden
  if (innerWidth < 1000) page.shelf = "closed";
})();

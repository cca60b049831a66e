// Before anything is drawn, so that nothing flashes: what this person chose of colours and of the shelf.
(() => {
  const page = document.documentElement.dataset;
  try { Object.assign(page, { theme: localStorage.theme ?? "system", shelf: localStorage.shelf ?? "open" }); } catch { page.shelf = "open"; } // storage may be forbidden
  if (innerWidth < 1000) page.shelf = "closed";
})();

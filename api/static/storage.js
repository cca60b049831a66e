// The browser's storage: for the next visit, and until the tab is closed. Where it is forbidden, plain objects until the next reload.
const open = (kind) => { try { return window[kind]; } catch { return {}; } };

export const [permanentStorage, tabStorage] = ["localStorage", "sessionStorage"].map(open);

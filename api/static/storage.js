// What the browser keeps for the next visit, and until the tab is closed; where that is forbidden, the page keeps it itself.
const open = (kind) => { try { return window[kind]; } catch { return {}; } };

export const [lasting, ofTab] = ["localStorage", "sessionStorage"].map(open);

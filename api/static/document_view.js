// A document that is opened from the sidebar: read from its beginning, and searched.
import { ApiError, attempt, call } from "./api.js";
import { copyOf, fill, joined } from "./elements.js";
import { openPassage, showPassages } from "./passage.js";
import { state } from "./state.js";
import { phrase, words } from "./words.js";

const [MAX_CHUNKS, MAX_SIMILAR] = [100, 3]; // that a search looks at; that are shown where none has the very words

export async function openDocument(entry, trigger) {
  const whole = passageOf(entry, 0, "");
  const tools = copyOf("document-tools");
  const box = tools.querySelector("input");
  tools.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = box.value.trim();
    attempt(async () => showPassages(query ? await search(entry, query) : [whole]));
  });
  openPassage([whole], 0, { sources: new Map([[undefined, { filename: entry.filename, title: entry.title }]]), trigger, tools: [tools] });
  fill(tools, { ".summary": await summarize(entry) });
}

const passageOf = ({ id, filename }, start_char, quote) =>
  ({ document_id: id, filename, start_char, end_char: start_char + Array.from(quote).length, quote });

// "3 pages · 12 passages · French · 4 Mar 2026"
async function summarize({ id, media_type, total, language, created_at }) {
  const { page_count: n } = media_type === "application/pdf" ? await call(`/documents/${id}/pages/1`).catch(() => ({})) : {};
  const name = language && language !== "und" && new Intl.DisplayNames(state.language, { type: "language" }).of(language);
  const date = new Date(created_at).toLocaleDateString(state.language, { dateStyle: "medium" });
  return joined(n && phrase("pages", { n }), total && phrase("passages", { n: total }), name, date);
}

// The very words, in the order of the text; without any, the passages nearest in meaning.
async function search(entry, query) {
  const { id, filename, collection } = entry;
  const body = { query, collection, filters: { filename }, top_k: MAX_CHUNKS, enable_rerank: false };
  const { results } = await call("/retrieve", { method: "POST", body });
  const chunks = results.filter(({ document_id }) => document_id === id);
  if (!chunks.length) throw new ApiError(words().nothingFound);
  const pattern = new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  const literal = chunks.flatMap(({ content, metadata }) => [...content.matchAll(pattern)].map(({ 0: quote, index }) =>
    passageOf(entry, metadata.start_char + Array.from(content.slice(0, index)).length, quote)));
  if (literal.length) return literal.sort((one, other) => one.start_char - other.start_char);
  return chunks.slice(0, MAX_SIMILAR).map(({ content, metadata }) => passageOf(entry, metadata.start_char, content));
}

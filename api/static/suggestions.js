// Questions that documents answer, made from the causes that they state.
import { callWhenOnline } from "./api.js";

const [MAX_DOCUMENTS, MAX_QUESTIONS] = [8, 3];
const [MAX_CITED, MAX_OF_CITED, MAX_FOLLOW_UPS] = [2, 10, 2];

// Of a collection, for an empty conversation.
export async function suggestQuestions(collection) {
  const { documents } = await callWhenOnline("/documents", { query: { collection, status: "indexed", limit: MAX_DOCUMENTS } });
  return (await readQuestions(documents.map(({ id }) => id))).slice(0, MAX_QUESTIONS);
}

// Of the documents that an answer cites, in its language; not what has been `asked`, and not what it has told.
export async function suggestFollowUps({ citations, language }, asked) {
  const ids = [...new Set(citations.map(({ document_id: id }) => id))].slice(0, MAX_CITED);
  const isTold = (told) => citations.some(({ quote }) => quote.includes(told) || told.includes(quote));
  const questions = (await readQuestions(ids, MAX_OF_CITED)).filter(({ text, lang, quote }) => lang === language && !asked.includes(text) && !isTold(quote));
  return questions.slice(0, MAX_FOLLOW_UPS);
}

// The first question of each document, then the second ones.
async function readQuestions(ids, limit) {
  const lists = await Promise.all(ids.map((id) => callWhenOnline(`/documents/${id}/questions`, { query: { limit } })));
  const ranked = lists.flatMap(({ language: lang, questions }) => questions.map((question, rank) => ({ ...question, lang, rank })));
  return ranked.sort((one, other) => one.rank - other.rank);
}

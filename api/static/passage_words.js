// What is said around a passage in its document.
import { addWords } from "./words.js";

addWords({
  es: {
    closePassage: "Cerrar el documento", previousCitation: "Cita anterior", nextCitation: "Cita siguiente",
    copyQuote: "Copiar la cita", quoteCopied: "Cita copiada.", original: "Descargar el original", opening: "Abriendo el documento…",
    page: "página {n}", pageOf: "página {n} de {all}", line: "línea {n}", lines: "líneas {n}–{last}", pageText: "Texto del pasaje",
    earlier: "Más texto anterior", later: "Más texto siguiente", earlierPage: "Página anterior", laterPage: "Página siguiente",
    changed: "El documento ha cambiado desde esta respuesta. Este es el texto que se leyó:",
    deleted: "El documento ya no está. Este es el texto que se leyó:", unreachable: "No se pudo abrir el documento. Este es el texto que se leyó:",
    noPicture: "La página no se puede mostrar como imagen. Este es su texto:", noFile: "No se pudo descargar el original.",
  },
  fr: {
    closePassage: "Fermer le document", previousCitation: "Citation précédente", nextCitation: "Citation suivante",
    copyQuote: "Copier la citation", quoteCopied: "Citation copiée.", original: "Télécharger l’original", opening: "Ouverture du document…",
    page: "page {n}", pageOf: "page {n} sur {all}", line: "ligne {n}", lines: "lignes {n}–{last}", pageText: "Texte du passage",
    earlier: "Texte qui précède", later: "Texte qui suit", earlierPage: "Page précédente", laterPage: "Page suivante",
    changed: "Le document a changé depuis cette réponse. Voici le texte qui a été lu :",
    deleted: "Le document n’est plus là. Voici le texte qui a été lu :", unreachable: "Le document n’a pas pu être ouvert. Voici le texte qui a été lu :",
    noPicture: "La page ne peut pas être affichée en image. Voici son texte :", noFile: "L’original n’a pas pu être téléchargé.",
  },
  en: {
    closePassage: "Close the document", previousCitation: "Previous citation", nextCitation: "Next citation",
    copyQuote: "Copy the quote", quoteCopied: "Quote copied.", original: "Download the original", opening: "Opening the document…",
    page: "page {n}", pageOf: "page {n} of {all}", line: "line {n}", lines: "lines {n}–{last}", pageText: "Text of the passage",
    earlier: "More text before", later: "More text after", earlierPage: "Previous page", laterPage: "Next page",
    changed: "The document has changed since this answer. This is the text that was read:",
    deleted: "The document is no longer there. This is the text that was read:", unreachable: "The document could not be opened. This is the text that was read:",
    noPicture: "The page can’t be shown as a picture. This is its text:", noFile: "The original could not be downloaded.",
  },
});

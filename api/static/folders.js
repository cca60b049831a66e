// The files of folders that are chosen or dropped, without hidden ones. A file is named by its path: names recur in folders.
const named = (file, path) => new File([file], path.replaceAll("/", " - "), { type: file.type });

export const visibleFiles = (files) => files
  .filter(({ webkitRelativePath: path }) => !/(^|\/)\./.test(path))
  .map((file) => named(file, file.webkitRelativePath));

// Calls `take` with each file of a dropped folder.
export async function readFolder(folder, take) {
  const reader = folder.createReader();
  for (;;) {
    const entries = await new Promise((...settle) => reader.readEntries(...settle)); // some of them
    if (!entries.length) return;
    for (const entry of entries.filter(({ name }) => !name.startsWith("."))) {
      if (entry.isDirectory) await readFolder(entry, take);
      else take(named(await new Promise((...settle) => entry.file(...settle)), entry.fullPath.slice(1)));
    }
  }
}

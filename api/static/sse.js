// Server-Sent Events read from the body of a fetch: EventSource cannot POST.

// Yields {id, event, data} for each complete event; a half one at the end is dropped, as the standard says.
// A connection that is cut ends them like a stream that is over.
export async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let fields = { id: "", event: "message", data: [] };
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(endUnlessStopped);
      if (done) return;
      const lines = (rest + value).split(/\r\n|\n|\r(?!$)/); // a final \r waits: its \n may be in the next chunk
      rest = lines.pop();
      for (const line of lines) {
        if (line !== "") {
          readField(line, fields);
          continue;
        }
        if (fields.data.length) yield { ...fields, data: fields.data.join("\n") };
        fields = { id: fields.id, event: "message", data: [] };
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // an aborted stream has nothing left to cancel
  }
}

function endUnlessStopped(error) {
  if (error.name === "AbortError") throw error;
  return { done: true };
}

function readField(line, fields) {
  const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line); // a comment has an empty name
  if (name === "id") fields.id = value;
  if (name === "event") fields.event = value;
  if (name === "data") fields.data.push(value);
}

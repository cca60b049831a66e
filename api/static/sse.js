// Server-Sent Events read from the body of a fetch: EventSource cannot POST.

// Yields {id, event, data} for each complete event; an incomplete one at the end is dropped, as the standard says.
// A lost connection ends the events like the end of the stream.
export async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let rest = ""; ;) {
      const { value, done } = await reader.read().catch(endUnlessAborted);
      if (done) return;
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop();
      yield* blocks.map(parse).filter(({ data }) => data); // a heartbeat has no data
    }
  } finally {
    reader.cancel().catch(() => {}); // an aborted stream has nothing left to cancel
  }
}

function endUnlessAborted(error) {
  if (error.name === "AbortError") throw error;
  return { done: true };
}

// The server writes data in a single line.
function parse(block) {
  return Object.fromEntries(block.split(/\r?\n/).map((line) => /^([^:]*):? ?(.*)$/s.exec(line).slice(1)));
}
